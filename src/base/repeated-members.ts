/** Whether a JSON text has more members than the value that was parsed from it. */
export function hasRepeatedMember(text: string, members: number): boolean {
  return countColons(text) !== members && countMembers(text) !== members;
}

/** Every member has a colon; there can be more of them, inside texts. */
function countColons(text: string): number {
  let count = 0;
  for (let position = text.indexOf(":"); position !== -1; position = text.indexOf(":", position + 1)) count += 1;
  return count;
}

/** Colons outside texts, one for each member as written. The text is known to be JSON. */
function countMembers(text: string): number {
  let count = 0;
  let quote = text.indexOf('"');
  let colon = text.indexOf(":");
  while (colon !== -1) {
    if (quote === -1 || colon < quote) {
      count += 1;
      colon = text.indexOf(":", colon + 1);
      continue;
    }
    let end = text.indexOf('"', quote + 1);
    while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
    if (end === -1) return count;
    quote = text.indexOf('"', end + 1);
    if (colon < end) colon = text.indexOf(":", end + 1);
  }
  return count;
}

function isEscaped(text: string, position: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(position - 1 - backslashes) === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}
