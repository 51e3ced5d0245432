# vim: set fileencoding=iso-8859-1 :
text = "ü"
