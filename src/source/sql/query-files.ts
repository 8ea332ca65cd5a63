import { resolve } from "node:path";
import { readRegular } from "../../base/regular-file.ts";
import type { SqlSourceSettings } from "../source-settings.ts";

/**
 * What stands in the files of a source's queries, by their names: another text is another question. A file that cannot
 * be read holds nothing here; the reading itself says why.
 */
export function queryFiles({ streams }: Pick<SqlSourceSettings, "streams">, directory: string): Record<string, string> {
  const parts = Object.values(streams).flatMap((stream) =>
    stream === undefined ? [] : [stream, ...Object.values(stream.details ?? {})],
  );
  const names = new Set(parts.flatMap(({ queryFile }) => queryFile ?? []));
  return Object.fromEntries([...names].sort().map((name) => [name, textOf(resolve(directory, name))]));
}

function textOf(file: string): string {
  try {
    return readRegular(file).toString("utf8");
  } catch {
    return "";
  }
}
