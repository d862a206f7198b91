# bash completion of plimsoll: source <(plimsoll completion bash)
# plimsoll itself knows what can follow. When it answers with an error, a file can.
_plimsoll() {
    local answer IFS=$'\n'
    COMPREPLY=()
    answer=$("${COMP_WORDS[0]/#\~/$HOME}" complete bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) ||
        compopt -o default 2>/dev/null
    [[ -z $answer ]] || COMPREPLY=($answer)
}
complete -F _plimsoll plimsoll
