import { stringify } from "yaml";
import type { Json } from "../../src/base/canonical-json.ts";

/** A table; a `|` or a line end in a cell does not end it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/gu, " ")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Text as code within a line. */
export function code(text: string): string {
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** A value in one line of YAML. */
export function inline(value: Json | undefined): string {
  return stringify(value, { collectionStyle: "flow", lineWidth: 0, flowCollectionPadding: false }).trim();
}

/** A block of YAML. */
export function yaml(value: Json): string {
  return `\`\`\`yaml\n${stringify(value, { lineWidth: 100 }).trimEnd()}\n\`\`\``;
}

/** A page: its parts, an empty line between each. */
export function page(parts: readonly string[]): string {
  const notice = "<!-- Written by `npm run docs` from the program. Change the definitions, not this file. -->";
  const [title = "", ...others] = parts;
  return `${[title, notice, ...others].join("\n\n")}\n`;
}

/** A text with its full stop. */
export function sentence(text: string): string {
  return /[.!?]$/u.test(text) ? text : `${text}.`;
}

/** The anchor of a heading, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, "")
    .replaceAll(" ", "-");
}
