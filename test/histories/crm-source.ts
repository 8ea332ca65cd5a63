import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { z } from "zod";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { streams, type Stream } from "../../src/crm/model.ts";
import { createStaging } from "../../src/ledger/records/staging.ts";
import type { ReadOutcome, SourceItem } from "../../src/source/reader.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { createSource, type Source } from "../../src/source/source.ts";
import { mappedSource } from "../simulation/crm-source.ts";
import type { Draws, Timeline } from "../simulation/timeline.ts";
import { lines, mappingOf } from "../support/world/crm-files.ts";
import { whole, type Misread } from "./misreads.ts";

/** How a CRM is read: by rows in memory, from files, each with a marker and all with a table, or from paged lists. */
export type Road = "memory" | "files" | "lists";

/** What the CRM gives now. */
interface Given {
  rows: (stream: Stream) => JsonObject[];
  /** What is wrong with it. */
  wrong: Misread | undefined;
}

const row = z.looseObject({ id: z.string() });
/** When files are written; markers are before it or after it. */
const writtenAt = 1_000_000_001;
const tableEntries = 40;
/** The nodes of a product, by a table that says the same of each number: without it, they are another number. */
const nodes = { lookup: { table: "nodes", key: "nodes", default: 99 } };

/** The CRM as a source, whatever that is called. Its files and its service are read while virtual time stands still. */
export class CrmSource {
  readonly road: Road;
  readonly #folder: string;
  readonly #timeline: Timeline;
  readonly #draws: Draws;
  readonly #given: () => Given;
  readonly #made = new Map<string, Source>();
  #server: Server | undefined;

  constructor(options: { road: Road; folder: string; timeline: Timeline; draws: Draws; given: () => Given }) {
    this.road = options.road;
    this.#folder = options.folder;
    this.#timeline = options.timeline;
    this.#draws = options.draws;
    this.#given = options.given;
  }

  async begin(): Promise<void> {
    mkdirSync(this.#folder, { recursive: true });
    if (this.road !== "lists") return;
    const server = createServer(({ url = "/" }, response) => {
      const { pathname, searchParams } = new URL(url, "http://here");
      const stream = streams.find((one) => pathname === `/${one}`) ?? "orders";
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(this.#page(stream, Number(searchParams.get("page")))));
    });
    this.#server = server;
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  }

  close(): void {
    for (const source of this.#made.values()) void source.close();
    this.#server?.close();
    this.#server?.closeAllConnections();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  named(name: string): Source {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const made = this.road === "memory" ? this.#inMemory(name) : this.#still(this.#real(name));
    this.#made.set(name, made);
    return made;
  }

  #rows(stream: Stream): JsonObject[] {
    const { rows, wrong } = this.#given();
    return wrong?.stream === stream ? wrong.rows(rows(stream)) : rows(stream);
  }

  #inMemory(name: string): Source {
    const rows = (stream: Stream): JsonObject[] => this.#rows(stream);
    return {
      ...mappedSource({ name, streams }),
      async *read(stream) {
        const items = rows(stream).map((value) => {
          const { id } = row.parse(value);
          return { raw: { place: `${stream}/${id}`, key: id, value } };
        });
        if (items.length > 0) yield items;
        return { complete: true, full: true, rows: items.length };
      },
    };
  }

  #real(name: string): Source {
    const address = this.#server?.address();
    const place =
      typeof address === "object" && address !== null
        ? { kind: "http", baseUrl: `http://127.0.0.1:${address.port}`, retries: 0 }
        : {
            kind: "file",
            directory: this.#folder,
            tables: { nodes: { files: "nodes.csv", key: "id", value: "nodes" } },
          };
    const paged = { records: "items", total: "total", paging: { kind: "page" } };
    const of = (stream: Stream): object =>
      place.kind === "http"
        ? { url: stream, ...paged, key: "id", mapping: mappingOf(stream) }
        : {
            files: `${stream}.ndjson`,
            completeWhen: { file: "{file}.done", contains: "rows" },
            key: "id",
            mapping: JSON.parse(
              JSON.stringify(mappingOf(stream)).replace('"nodes":"nodes"', `"nodes":${JSON.stringify(nodes)}`),
            ),
          };
    const settings = { ...place, streams: Object.fromEntries(streams.map((stream) => [stream, of(stream)])) };
    return createSource(name, sourceSettingsSchema.parse(settings), {
      clock: this.#timeline.clock(),
      random: this.#draws,
      secrets: (ref) => ref,
      staging: createStaging(),
      baseDirectory: this.#folder,
    });
  }

  /** A source that reads files or a service: nothing else happens until a reading has ended. */
  #still(source: Source): Source {
    const timeline = this.#timeline;
    return {
      ...source,
      endReading: () => timeline.still(source.endReading()),
      mapping: async (stream, signal) => {
        if (this.road === "files") this.#write(stream);
        return await timeline.still(source.mapping(stream, signal));
      },
      async *read(...asked) {
        const { batches, outcome } = await timeline.still(readWhole(source.read(...asked)));
        yield* batches;
        return outcome;
      },
    };
  }

  /** Exports a stream, its marker and the table. */
  #write(stream: Stream): void {
    const { wrong } = this.#given();
    const own = wrong?.stream === stream ? wrong : undefined;
    const rows = this.#rows(stream);
    const half = own?.isHalfWritten === true ? `{"id":"half-` : "";
    const file = join(this.#folder, `${stream}.ndjson`);
    writeFileSync(file, lines(rows) + half);
    utimesSync(file, writtenAt, writtenAt);
    rmSync(`${file}.done`, { force: true });
    if (own?.marker !== "missing") {
      writeFileSync(`${file}.done`, String(rows.length + (own?.marker === "of more rows" ? 1 : 0)));
      const at = writtenAt + (own?.marker === "older" ? -60 : 60);
      utimesSync(`${file}.done`, at, at);
    }
    const first = tableEntries - (wrong?.entries?.(tableEntries) ?? tableEntries) + 1;
    const entries = Array.from({ length: tableEntries + 1 - first }, (_, at) => `${first + at},${first + at}\n`);
    writeFileSync(join(this.#folder, "nodes.csv"), `id,nodes\n${entries.join("")}`);
  }

  #page(stream: Stream, page: number): object {
    const { wrong } = this.#given();
    const rows = this.#rows(stream);
    const { total, most, size } =
      (wrong?.stream === stream ? wrong.list : undefined)?.(rows.length) ?? whole(rows.length);
    return { items: rows.slice(0, most).slice((page - 1) * size, page * size), total };
  }
}

/** A whole reading, and how it ended. */
async function readWhole(
  reading: AsyncGenerator<SourceItem[], ReadOutcome, void>,
): Promise<{ batches: SourceItem[][]; outcome: ReadOutcome }> {
  const batches: SourceItem[][] = [];
  for (;;) {
    const next = await reading.next();
    if (next.done === true) return { batches, outcome: next.value };
    batches.push(next.value);
  }
}
