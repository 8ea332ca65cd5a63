const mostCharacters = 31;

/**
 * Gives sheets their names: what spreadsheet programs refuse in one is left out, and a name that there is already gets
 * a number behind it.
 */
export function sheetNames(): (title: string) => string {
  const taken = new Set<string>();
  return (title) => {
    const wanted = title.replaceAll(/[[\]:*?/\\'\p{C}]/gu, " ").trim() || "Sheet";
    for (let number = 1; ; number += 1) {
      const suffix = number === 1 ? "" : ` (${number})`;
      const name = wanted.slice(0, mostCharacters - suffix.length) + suffix;
      if (taken.has(name.toLowerCase())) continue;
      taken.add(name.toLowerCase());
      return name;
    }
  };
}
