#compdef gputrace
# Completion of gputrace for zsh, made by gputrace completion zsh.
_gputrace() {
	local -a line offers ended open ended_shown open_shown
	local offer word shown home

	line=("${(@Q)words[2,CURRENT]}")
	offers=("${(@f)$(command ${~words[1]} offer -- "$line[@]" 2>/dev/null)}")
	case $offers[1] in
	files)
		_files
		return
		;;
	commands)
		_alternative 'commands:program:_command_names -e' 'files:program:_files'
		return
		;;
	program*)
		shift ${offers[1]#program } words
		((CURRENT -= ${offers[1]#program }))
		_normal
		return
		;;
	esac
	shift offers
	compset -P '\~/' && home='~/'
	for offer in $offers; do
		word=${${offer%%$'\t'*}#$home}
		shown=$word
		[[ $offer == *$'\t'* ]] && shown="${(r:26:)word} ${offer#*$'\t'}"
		if [[ $word == *[=/] ]]; then
			open+=("$word")
			open_shown+=("$shown[1,COLUMNS-1]")
		else
			ended+=("$word")
			ended_shown+=("$shown[1,COLUMNS-1]")
		fi
	done
	compadd -V gputrace -l -d ended_shown -a ended
	compadd -V gputrace -l -S '' -d open_shown -a open
}
# Found along fpath it is called; read by "source" it is only told of.
if [[ $funcstack[1] == _gputrace ]]; then
	_gputrace "$@"
else
	compdef _gputrace gputrace
fi
