# fish completion of plimsoll: plimsoll completion fish | source
# plimsoll itself knows what can follow. When it answers with an error, a file can.
function __plimsoll_complete
    set -l given (commandline -opc)
    set -l word (commandline -ct)
    set -l answer ($given[1] complete fish -- $given[2..-1] "$word" 2>/dev/null)
    set -l code $status
    if test (count $answer) -gt 0
        printf '%s\n' $answer
    else if test $code -ne 0
        __fish_complete_path "$word"
    end
end
complete -c plimsoll -f -a '(__plimsoll_complete)'
