import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const profileSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.int(),
      callFrame: z.object({
        functionName: z.string(),
        url: z.string(),
        lineNumber: z.int(),
        columnNumber: z.int(),
      }),
    }),
  ),
  samples: z.array(z.int()),
  timeDeltas: z.array(z.int()),
});
type Frame = z.infer<typeof profileSchema>["nodes"][number]["callFrame"];

/**
 * Milliseconds that a CPU profile spent in each room of the program (`src/ledger`, SQLite included), package
 * (`undici`), in Node and in the machine itself (`(garbage collector)`), without those of what was called from there.
 */
export function roomsOf(path: string): Map<string, number> {
  const { nodes, samples, timeDeltas } = profileSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  const maps = new Map<string, SourceMap | undefined>();
  const rooms = new Map(nodes.map(({ id, callFrame }) => [id, roomOf(callFrame, maps)]));
  const spent = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const room = rooms.get(id) ?? "(unknown)";
    spent.set(room, (spent.get(room) ?? 0) + (timeDeltas[index] ?? 0) / 1_000);
  }
  return spent;
}

function roomOf(frame: Frame, maps: Map<string, SourceMap | undefined>): string {
  const { url, functionName } = frame;
  if (url === "") return functionName.startsWith("(") ? functionName : "Node";
  if (url.startsWith("node:")) return "Node";
  const source = sourceOf(url, frame, maps);
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//u.exec(source)?.[1];
  if (inPackage !== undefined) return inPackage;
  return /\/((?:src\/[^/]+|migrations|jobs))\/[^/]/u.exec(source)?.[1] ?? "(the bundle's own)";
}

/** The file that a function was written in: that of a bundle stands in its map. */
function sourceOf(url: string, frame: Frame, maps: Map<string, SourceMap | undefined>): string {
  if (!maps.has(url)) {
    const path = `${url.startsWith("file:") ? fileURLToPath(url) : url}.map`;
    maps.set(url, existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, "utf8"))) : undefined);
  }
  const entry = maps.get(url)?.findEntry(frame.lineNumber, frame.columnNumber);
  return entry !== undefined && "originalSource" in entry ? entry.originalSource : url;
}
