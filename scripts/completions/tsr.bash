# Completion of tsr for bash.
_tsr() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  if [ "${COMP_WORDS[1]}" = kernel ] && [ "$COMP_CWORD" -ge 2 ]; then
    case $before in
      --prefix) COMPREPLY=($(compgen -d -- "$word")); return ;;
      --connection) COMPREPLY=($(compgen -f -- "$word")); return ;;
      --name | --display-name) return ;;
    esac
    if [ "$COMP_CWORD" = 2 ]; then
      COMPREPLY=($(compgen -W 'install remove spec --connection --help' -- "$word"))
    else
      COMPREPLY=($(compgen -W '--user --sys-prefix --prefix --name --display-name --device --threads' -- "$word"))
    fi
    return
  fi
  case $before in
    --device) COMPREPLY=($(compgen -W 'cpu cuda' -- "$word")); return ;;
    --threads | -c | -m) return ;;
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W '-c -m -i --dump --device --threads --version --help' -- "$word")) ;;
    *)
      COMPREPLY=($(compgen -f -X '!*.@(tsr|py)' -- "$word") $(compgen -d -- "$word"))
      [ "$COMP_CWORD" != 1 ] || COMPREPLY+=($(compgen -W 'kernel serve' -- "$word")) ;;
  esac
}
complete -o filenames -F _tsr tsr
