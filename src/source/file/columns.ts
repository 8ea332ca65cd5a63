import { groupingPlaces, placeInRecord } from "../group-places.ts";
import { readsOf } from "../mapping/compile.ts";
import { parsePath } from "../mapping/path.ts";
import type { Stream } from "../../crm/model.ts";
import type { FileStream } from "../source-settings.ts";

/** What tells who reads which column of the rows of a stream. */
interface ReadByColumns extends Pick<FileStream, "mapping"> {
  key?: string | undefined;
  group?: FileStream["group"];
  skip?: FileStream["skip"];
  details?: Readonly<Record<string, { key?: string | undefined }>> | undefined;
}

/**
 * The columns that the files of a stream need, if they are CSV: those of its own rows, and those of its details by
 * their name.
 */
export interface NeededColumns {
  own: readonly string[];
  details: Readonly<Record<string, readonly string[]>>;
}

/** The column of a CSV row that a path begins with; none where it is the row itself. */
export function columnsOf(path: string | undefined): string[] {
  const parsed = path === undefined ? undefined : parsePath(path);
  const first = parsed?.ok === true ? parsed.value.steps[0] : undefined;
  return typeof first === "string" ? [first] : [];
}

export function neededColumns(stream: Stream, settings: ReadByColumns): NeededColumns {
  const sets = settings.details ?? {};
  const own = new Set(columnsOf(settings.key));
  const details = new Map(Object.entries(sets).map(([name, set]) => [name, new Set(columnsOf(set.key))]));
  const { group } = settings;
  const read = readsOf(stream, settings.mapping, settings.skip).map(({ steps }) => placeInRecord(steps, group));
  for (const [first, , inside] of [...groupingPlaces(group).map(({ steps }) => steps), ...read]) {
    if (typeof first !== "string") continue;
    const detail = details.get(first);
    if (detail === undefined) own.add(first);
    else if (typeof inside === "string") detail.add(inside);
  }
  return { own: [...own], details: Object.fromEntries([...details].map(([name, columns]) => [name, [...columns]])) };
}
