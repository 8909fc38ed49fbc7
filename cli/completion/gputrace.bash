# Completion of gputrace for bash, made by gputrace completion bash.
# shellcheck shell=bash disable=SC2088 # a ~ that was typed stays one
_gputrace() {
	local line=() at=() offers=() rest=$COMP_LINE word before program cut offer i

	# Readline parts words at '=' and ':' too: what stands side by side is one word.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		before=${rest%%"$word"*}
		if ((i > 0)) && [[ -n $word && -z $before ]]; then
			line[-1]+=$word
		else
			line+=("$word")
			at+=("$i")
		fi
		rest=${rest#"$before$word"}
	done
	word=${line[-1]}
	cut=${word%"${COMP_WORDS[COMP_CWORD]}"}
	[[ ${COMP_WORDS[COMP_CWORD]} == [=:] ]] && cut=$word
	line[-1]=${word//\\/}
	line[-1]=${line[-1]#[\"\']}
	program=${line[0]}
	[[ $program == '~/'* ]] && program=$HOME/${program#??}

	COMPREPLY=()
	mapfile -t offers < <(command "$program" offer -- "${line[@]:1}" 2>/dev/null)
	for offer in "${offers[@]:1}"; do
		offer=${offer%%$'\t'*}
		before=
		[[ $offer == '~/'* ]] && before='~/' offer=${offer#??}
		offer=${offer#"${cut//\\/}"}
		[[ $word == [\"\']* ]] || printf -v offer '%s%q' "$before" "$offer"
		[[ $offer == *[=/] ]] || offer+=' '
		COMPREPLY+=("$offer")
	done
	case ${offers[0]} in
	commands)
		compopt -o default
		[[ $word == */* ]] || mapfile -t COMPREPLY < <(compgen -c -- "$word")
		;;
	program*)
		i=${at[${offers[0]#program }]}
		if declare -F _comp_command_offset >/dev/null; then
			_comp_command_offset "$i"
		elif declare -F _command_offset >/dev/null; then
			_command_offset "$i"
		else
			compopt -o default
		fi
		;;
	files) compopt -o default ;;
	words) compopt -o nospace ;;
	esac
}
complete -o nosort -F _gputrace gputrace 2>/dev/null || complete -F _gputrace gputrace
