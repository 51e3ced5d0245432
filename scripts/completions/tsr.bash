# Completion of tsr for bash.
_tsr() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  case $before in
    --device) COMPREPLY=($(compgen -W 'cpu cuda' -- "$word")); return ;;
    --threads | -c | -m) return ;;
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W '-c -m -i --dump --device --threads --version --help' -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -X '!*.@(tsr|py)' -- "$word") $(compgen -d -- "$word")) ;;
  esac
}
complete -o filenames -F _tsr tsr
