import { join } from "node:path";
import { Document, isMap, isScalar } from "yaml";
import type { YAMLMap } from "yaml";
import type { JsonObject } from "../base/canonical-json.ts";
import { projectFolder } from "../base/project-folder.ts";
import { streams } from "../crm/model.ts";
import type { Proposal, ProposedStream } from "./init-from.ts";

/** The environment variable from which a proposed configuration takes the key that seals passwords of staff. */
export const sealKeyVariable = "SEAL_KEY";

/** A proposed configuration as YAML, with each doubt as a comment where it stands; how many there are. */
export function proposalText({ sources, streams: proposed }: Proposal, zone: string): { text: string; doubts: number } {
  const inOrder = streams.flatMap((name) => proposed.filter(({ stream }) => stream === name));
  const written = Object.fromEntries(
    Object.entries(sources).map(([source, settings]): [string, JsonObject] => {
      const own = inOrder.filter((item) => item.source === source);
      return [source, { ...settings, streams: Object.fromEntries(own.map((item) => [item.stream, settingsOf(item)])) }];
    }),
  );
  const hasStaff = proposed.some(({ stream }) => stream === "staff");
  const ledger = { path: "ledger/ledger.db", ...(hasStaff ? { sealKey: `env:${sealKeyVariable}` } : {}) };
  const document = new Document({ ledger, zone, sources: written }, { aliasDuplicateObjects: false });
  document.commentBefore = [
    ` yaml-language-server: $schema=${join(projectFolder, "config/schema.json")}`,
    " Proposed from the lists that are named below. DOUBT marks a guess: check it, and see",
    " with `crm-sync map SOURCE STREAM` how your records are mapped.",
  ].join("\n");
  let doubts = 0;
  const doubt = (text: string): string => {
    doubts += 1;
    return ` DOUBT: ${text}`;
  };
  for (const item of inOrder) {
    const at = ["sources", item.source, "streams", item.stream];
    const stream: unknown = document.getIn(at, true);
    const mapping: unknown = document.getIn([...at, "mapping"], true);
    if (!isMap(stream) || !isMap(mapping)) continue;
    stream.commentBefore = [` from ${item.from.join(", ")}`, ...item.doubts.map(doubt)].join("\n");
    commentFields(mapping, item, doubt);
  }
  return { text: document.toString({ lineWidth: 120 }), doubts };
}

function settingsOf({ settings, fields }: ProposedStream): JsonObject {
  const filled = fields.filter(({ expression }) => expression !== undefined);
  return {
    ...settings,
    mapping: Object.fromEntries(filled.map(({ field, expression }) => [field, expression ?? null])),
  };
}

/** A doubt stands above its field; one of a field that nothing fills, at the end of the mapping. */
function commentFields(mapping: YAMLMap, { fields }: ProposedStream, doubt: (text: string) => string): void {
  const left: string[] = [];
  for (const { field, expression, doubt: text } of fields) {
    if (text === undefined) continue;
    if (expression === undefined) {
      left.push(doubt(`${field}: ${text}`));
      continue;
    }
    for (const { key } of mapping.items) if (isScalar(key) && key.value === field) key.commentBefore = doubt(text);
  }
  if (left.length > 0) mapping.comment = left.join("\n");
}
