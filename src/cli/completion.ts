import type { DefinedCommand } from "./command-tree.ts";
import type { Shell } from "./shells.ts";

/** A script with which a shell completes commands and options as they are defined, and file names behind options. */
export function completionScript(shell: Shell, commands: readonly DefinedCommand[]): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](commands);
}

const placeOf = ({ words }: DefinedCommand): string => words.join(" ");
const offersOf = ({ below, options }: DefinedCommand): string =>
  [...below, ...options.map((option) => option.long)].join(" ");
/** Options whose next word is their value, whichever command has them. */
function valued(commands: readonly DefinedCommand[]): string[] {
  const options = commands.flatMap((command) => command.options.filter((option) => option.takesValue));
  return [...new Set(options.map((option) => option.long))].sort();
}

/** Both shells find the command by walking over the words before the one that is typed. */
function cases(commands: readonly DefinedCommand[]): { places: string; offers: (give: string) => string } {
  return {
    places: commands
      .filter(({ words }) => words.length > 0)
      .map((command) => `"${placeOf(command)}"`)
      .join("|"),
    offers: (give) =>
      commands.map((command) => `    "${placeOf(command)}") ${give.replace("WORDS", offersOf(command))} ;;`).join("\n"),
  };
}

function bashScript(commands: readonly DefinedCommand[]): string {
  const { places, offers } = cases(commands);
  return `# Completion of crm-sync for bash: source <(crm-sync completion bash)
_crm_sync() {
  local typed=\${COMP_WORDS[COMP_CWORD]} place= value= word offered=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ -n $value ]]; then value=; continue; fi
    case $word in
      ${valued(commands).join("|")}) value=yes; continue ;;
    esac
    case \${place:+$place }$word in
      ${places}) place=\${place:+$place }$word ;;
    esac
  done
  if [[ -n $value ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$typed")
    return
  fi
  case $place in
${offers('offered="WORDS"')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$typed")
}
complete -o filenames -F _crm_sync crm-sync
`;
}

function zshScript(commands: readonly DefinedCommand[]): string {
  const { places, offers } = cases(commands);
  return `#compdef crm-sync
# Completion of crm-sync for zsh: crm-sync completion zsh > a folder of $fpath, as _crm-sync
_crm_sync() {
  local place= value= word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $value ]]; then value=; continue; fi
    case $word in
      ${valued(commands).join("|")}) value=yes; continue ;;
    esac
    case \${place:+$place }$word in
      ${places}) place=\${place:+$place }$word ;;
    esac
  done
  if [[ -n $value ]]; then
    _files
    return
  fi
  case $place in
${offers("compadd -- WORDS")}
  esac
}
if [[ $funcstack[1] = _crm-sync ]]; then _crm_sync "$@"; else compdef _crm_sync crm-sync; fi
`;
}

function fishScript(commands: readonly DefinedCommand[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap((command) => {
    const at = `complete -c crm-sync -n ${quoted(`test (__crm_sync_place) = "${placeOf(command)}"`)}`;
    const below = commands.filter(
      ({ words }) => words.length === command.words.length + 1 && command.words.every((word, at) => words[at] === word),
    );
    return [
      ...below.map((one) => `${at} -f -a ${one.words.at(-1)} -d ${quoted(one.description)}`),
      ...command.options.map(
        ({ long, description, takesValue }) =>
          `${at} -l ${long.replace(/^--/u, "")} ${takesValue ? "-r " : ""}-d ${quoted(description)}`,
      ),
    ];
  });
  return `# Completion of crm-sync for fish: crm-sync completion fish > ~/.config/fish/completions/crm-sync.fish
function __crm_sync_place
  set -l place
  set -l value
  for word in (commandline -opc)[2..-1]
    if test -n "$value"
      set value
      continue
    end
    if contains -- $word ${valued(commands).join(" ")}
      set value yes
      continue
    end
    set -l longer (string trim -- "$place $word")
    if contains -- $longer ${commands
      .filter(({ words }) => words.length > 0)
      .map((command) => quoted(placeOf(command)))
      .join(" ")}
      set place $longer
    end
  end
  echo "$place"
end
${lines.join("\n")}
`;
}
