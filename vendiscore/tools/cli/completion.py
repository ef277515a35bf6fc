"""`vendiscore completion`: a shell script that completes commands and options."""

from argparse import Namespace

from .parser import COMMANDS, build_parser

_BASH = """\
_vendiscore() {
  local known="%s" first="${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -gt 1 ]; then
    [[ " $known " == *" $first "* ]] || first=score
    case "$first" in
%s    esac
  fi
  COMPREPLY=($(compgen -W "$known" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _vendiscore vendiscore
"""
_FISH = """\
set -g __vendiscore_commands %s
function __vendiscore_is
  set -l words (commandline -opc)
  set -l first $words[2]
  contains -- "$first" $__vendiscore_commands; or set first score
  test (count $words) -gt 1; or set first none
  test "$first" = $argv[1]
end
complete -c vendiscore -n '__vendiscore_is none' -a "$__vendiscore_commands"
%s"""
_CASE = "      %s) known='%s';;\n"
# For each shell, the templates of the script and of its line per command; zsh uses that of bash.
_SCRIPTS = {
    "bash": (_BASH, _CASE),
    "zsh": ("autoload -U +X bashcompinit && bashcompinit\n" + _BASH, _CASE),
    "fish": (_FISH, "complete -c vendiscore -n '__vendiscore_is %s' -a '%s'\n"),
}


def run_completion(args: Namespace) -> str:
    """Return a script that completes the names of commands, and the long flags of each."""
    script_template, line_template = _SCRIPTS[args.shell]
    lines = ""
    for command in COMMANDS:
        flags = sorted({*build_parser(command).flags.values()})
        lines += line_template % (command, " ".join(flags))
    return script_template % (" ".join(COMMANDS), lines)
