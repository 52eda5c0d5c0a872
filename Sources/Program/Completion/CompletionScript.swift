import BluetoothLELinux

/// The completion scripts for bash, zsh and fish. A script runs `blectl ---complete` once per completion.
///
/// Unlike the scripts of ArgumentParser, these scripts know devices and do not split words at colons in bash.
package enum CompletionScript {
  private static let option = "--generate-completion-script"

  /// Returns the script that `--generate-completion-script` requests. Nil without this option or for an unknown shell.
  package static func wanted(by arguments: [String]) -> String? {
    guard let index = arguments.firstIndex(where: { $0 == option || $0.hasPrefix("\(option)=") }) else { return nil }
    let word = arguments[index]
    let named = word.after("\(option)=") ?? (index + 1 < arguments.count ? arguments[index + 1] : nil)
    let name = named ?? ThisProcess.environment()["SHELL"]?.split(separator: "/").last.map(String.init)
    return name.flatMap { ShellDialect(rawValue: $0) }.map(text)
  }

  static func text(_ dialect: ShellDialect) -> String {
    switch dialect {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  /// The completion script for bash. `blectl ---complete` quotes the candidates, so the script inserts them unchanged.
  private static let bash = #"""
    # Completion of blectl for bash; made by blectl --generate-completion-script bash.
    _blectl() {
      local program=$1 how IFS=$' \t\n'
      case $program in "~/"*) program=$HOME/${program#"~/"} ;; esac
      COMPREPLY=()
      mapfile -t COMPREPLY < <("$program" ---complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
      read -r -a how <<<"${COMPREPLY[0]-}"
      COMPREPLY=("${COMPREPLY[@]:1}")
      compopt -o nosort 2>/dev/null
      [ "${how[0]-}" != menu ] || how=("${how[@]:1}")
      case ${how[0]-} in
        nospace) compopt -o nospace 2>/dev/null ;;
        files)
          # As bash does by default, even if no file has the ending.
          compopt -o filenames -o default 2>/dev/null
          local ending
          for ending in "${how[@]:2}"; do
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -X "!*.$ending" -- "$2")
          done
          [ "${#COMPREPLY[@]}" = 0 ] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$2")
          ;;
      esac
    }
    complete -F _blectl blectl
    """#

  /// The completion script for zsh. Zsh quotes the text that it inserts.
  private static let zsh = #"""
    #compdef blectl
    # Completion of blectl for zsh; made by blectl --generate-completion-script zsh.
    _blectl() {
      local program=${(Q)words[1]}
      local -a lines how whole part options
      program=${program/#\~\//$HOME/}
      lines=("${(@f)$("$program" ---complete zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
      how=(${=lines[1]})
      lines=("${(@)lines[2,-1]}")
      options=(-M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}')
      if [[ ${how[1]-} == menu ]]; then
        # The candidates do not start with the typed text.
        options=(-U)
        compstate[insert]=menu
        shift how
      fi
      whole=("${(@)${(@M)lines:#=*}#=}")
      part=("${(@)${(@M)lines:#+*}#+}")
      local found=1
      (( ${#whole} )) && _describe -V -t blectl blectl whole "${options[@]}" && found=0
      (( ${#part} )) && _describe -V -t blectl-part blectl part "${options[@]}" -S '' && found=0
      if [[ ${how[1]-} == files ]]; then
        compset -p ${how[2]}
        if (( ${#how} > 2 )); then
          _files -g "*.(${(j:|:)how[3,-1]})(-.)" && found=0
        else
          _files && found=0
        fi
      fi
      return found
    }
    if [[ $funcstack[1] == _blectl ]]; then _blectl "$@"; else compdef _blectl blectl; fi
    """#

  private static let fish = #"""
    # Completion of blectl for fish; made by blectl --generate-completion-script fish.
    function __blectl_complete
        set -l words (commandline -opc)
        set -l current (commandline -ct)
        set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
        # A quote that is still open ends where the cursor is.
        set -l last (string unescape -- $current; or string unescape -- $current\'; or string unescape -- $current\"; or echo -- $current)
        set -l lines ($program ---complete fish $words[2..] "$last" 2>/dev/null)
        set -l how (string split ' ' -- "$lines[1]")
        set -e lines[1]
        test (count $lines) -gt 0; and printf '%s\n' $lines
        if test "$how[1]" = files
            if test (count $how) -gt 2
                __fish_complete_suffix .$how[3]
            else
                # Versions of fish differ in whether their file completion expects the quotes of the word.
                set -l begin (string replace -r '^~/' "$HOME/" -- $last)
                for file in $begin*
                    test -d $file; and echo $file/; or echo $file
                end
            end
        end
    end
    complete -c blectl -e
    complete -c blectl -k -f -a '(__blectl_complete)'
    """#
}
