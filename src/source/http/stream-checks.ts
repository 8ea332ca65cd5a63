import { checkChain } from "./chain-settings.ts";
import type { ChainSettings, DetailSettings, StreamChain } from "./chain-settings.ts";
import type { HttpListSettings, SinceSettings } from "./http-source-settings.ts";
import { checkList } from "./list-checks.ts";

interface Checked extends HttpListSettings {
  key?: string | undefined;
  since?: SinceSettings | undefined;
  group?: unknown;
  each?: StreamChain | undefined;
  details?: Readonly<Record<string, DetailSettings>> | undefined;
}

interface SourceAround {
  baseUrl?: string | undefined;
  streams: Readonly<Record<string, Checked | undefined>>;
}

interface Issue {
  path: string[];
  message: string;
}

/** Every list that a stream is read from, and where it stands in the settings. */
export function listsOf(path: string[], stream: Checked | undefined): (HttpListSettings & { path: string[] })[] {
  if (stream === undefined) return [];
  const of = stream.each?.of;
  return [
    { ...stream, path },
    ...(of === undefined || typeof of === "string" ? [] : [{ ...of, path: [...path, "each", "of"] }]),
    ...Object.entries(stream.details ?? {}).map(([name, list]) => ({ ...list, path: [...path, "details", name] })),
  ];
}

/** What one key of an http stream, its details and its chain demands of another. */
export function checkHttpStream(stream: Checked, name: string, source: SourceAround): Issue[] {
  const { baseUrl } = source;
  const issues = [...checkList(stream, baseUrl), ...checkEach(stream, name, source)];
  const add = (path: string[], message: string): number => issues.push({ path, message });
  if (stream.group !== undefined && stream.since !== undefined)
    add(["since"], "cannot be used with group: the changed rows are only a part of a record");
  if (stream.details === undefined) return issues;
  if (stream.key === undefined) add(["key"], "missing; detail rows are joined by the key of their record");
  for (const [detail, list] of Object.entries(stream.details)) {
    const at = ["details", detail];
    const found = [...checkList({ ...list, key: list.rowKey }, baseUrl), ...checkChain(list, baseUrl)];
    checkBatch(list, (message) => add([...at, "each", "batch"], message));
    for (const { path, message } of found) add([...at, ...path], message);
    if (list.key === undefined && list.each === undefined)
      add([...at, "key"], "missing; detail rows are joined by the key of their record");
  }
  return issues;
}

/** A text of XML has a place for one value. */
function checkBatch(
  { bodyAs, each }: { bodyAs: string; each?: ChainSettings | undefined },
  add: (message: string) => void,
): void {
  if (bodyAs === "xml" && each?.batch !== undefined && each.put.some((put) => put.in === "body"))
    add("found with values that go into a body of XML; ask record by record");
}

function checkEach({ each, since, ...list }: Checked, name: string, { baseUrl, streams }: SourceAround): Issue[] {
  if (each === undefined) return [];
  const issues = checkChain({ ...list, key: undefined, each: { ...each, batch: undefined } }, baseUrl);
  const add = (path: string[], message: string): number => issues.push({ path: ["each", ...path], message });
  checkBatch({ ...list, each }, (message) => add(["batch"], message));
  if (each.batch !== undefined && each.into !== undefined)
    add(["into"], "found with batch, where an answer is for many records");
  if (since !== undefined)
    issues.push({
      path: ["since"],
      message: "cannot be used with each: changes of many lists have no common start",
    });
  if (typeof each.of !== "string") {
    for (const { path, message } of checkList(each.of, baseUrl)) add(["of", ...path], message);
  } else if (each.of === name) add(["of"], "is this stream itself; expected another one");
  else if (streams[each.of] === undefined) add(["of"], `the source has no stream ${each.of}`);
  else if (streams[each.of]?.each !== undefined) add(["of"], `the stream ${each.of} is itself read by another stream`);
  return issues;
}
