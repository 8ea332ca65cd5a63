/** What must not act in a text, and what is not seen at all: each range with what it holds. */
const unseenRanges = [
  "\\u0000-\\u001f\\u007f-\\u009f", // control characters, with tab and line ends
  "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069", // what turns the direction of a text
  "\\u2028\\u2029", // separators of lines and paragraphs
  "\\u200b\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb", // what has no width
  "\\ufdd0-\\ufdef\\ufffe\\uffff\\p{Surrogate}", // no characters; halves of surrogate pairs
];
const unseen = new RegExp(`[${unseenRanges.join("")}]`, "gu");

/** A text with every character that would act or not be seen as an escape of JSON, such as `\u202e`. */
export function withEscapes(text: string): string {
  return text.replaceAll(unseen, escaped);
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\r", "\\r"],
]);

/**
 * A text as it stands in a cell of every format but JSON, which keeps it exactly: what would act or not be seen is
 * shown as an escape, such as `\n` or `\u202e`.
 */
export function cellText(text: string): string {
  return text.replaceAll(unseen, (found) => shortEscapes.get(found) ?? escaped(found));
}

/** A character as `\u202e`. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** What a spreadsheet takes for the beginning of a formula, in both widths. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * A cell's text in a file whose cells have no type: one that a spreadsheet would take for a formula begins with an
 * apostrophe.
 */
export function untypedCellText(text: string): string {
  const shown = cellText(text);
  return formulaStart.test(text) ? `'${shown}` : shown;
}

/** What stands between the members of a list in one cell. */
export const listMark = "; ";

/** The members of a list in one cell: a `;` of theirs is shown as an escape, so that they can be told apart again. */
export function joinedList(members: readonly string[]): string {
  return members.map((member) => member.replaceAll(";", escaped)).join(listMark);
}
