# Completion of gputrace for fish, made by gputrace completion fish.
function __gputrace_offers
	set -l line (commandline -opc)
	set -l word (commandline -ct)
	set -l offers (command $line[1] offer -- $line[2..-1] $word 2>/dev/null)

	switch "$offers[1]"
		case files
			__fish_complete_path $word
		case commands
			__fish_complete_subcommand --fcs-skip=(count $line)
		case 'program *'
			__fish_complete_subcommand --fcs-skip=(string replace 'program ' '' $offers[1])
	end
	string join -- \n $offers[2..-1]
end
complete -c gputrace -f -k -a '(__gputrace_offers)'
