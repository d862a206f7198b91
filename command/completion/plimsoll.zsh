#compdef plimsoll
# zsh completion of plimsoll: source <(plimsoll completion zsh)
# plimsoll itself knows what can follow. When it answers with an error, a file can.
_plimsoll() {
    local answer files=0
    local -a given found
    given=("${(@Q)words[2,CURRENT]}")
    answer=$("${(Q)words[1]/#\~/$HOME}" complete zsh -- "${(@)given}" 2>/dev/null) || files=1
    found=("${(@f)answer}")
    [[ -n $answer ]] && _describe plimsoll found && return
    (( files )) && _files
}
# As a file in $fpath this is the function's own body; when it is sourced it is not.
if [[ $funcstack[1] = _plimsoll ]]; then
    _plimsoll "$@"
else
    compdef _plimsoll plimsoll
fi
