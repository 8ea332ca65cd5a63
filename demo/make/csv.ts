/** CSV text with a header row; fields are quoted where they have to be. */
export function csvText(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, string | undefined>>[],
): string {
  const lines = [
    columns.join(","),
    ...rows.map((row) => columns.map((column) => csvField(row[column] ?? "")).join(",")),
  ];
  return `${lines.join("\n")}\n`;
}

export function csvField(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One JSON object a line. */
export function ndjsonText(records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}
