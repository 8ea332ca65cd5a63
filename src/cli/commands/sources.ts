import { toJson } from "../../base/canonical-json.ts";
import type { Application } from "../../operate/application.ts";
import type { ExitCode } from "../../base/errors.ts";
import { exitCodes, usage, messageOf, Problem } from "../../base/errors.ts";
import type { Stream } from "../../crm/model.ts";
import { withApplication } from "../command.ts";
import type { Invocation } from "../command.ts";
import { example, wholeNumber } from "../command-line.ts";
import type { Register } from "../command-line.ts";
import { describeProblem, viewOf, reportFailure } from "../output.ts";
import { existsSync, readFileSync } from "node:fs";
import { watch } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { StreamSchema } from "../../setup/stream-schema.ts";
import { counted, renderTable } from "../../report/text.ts";
import type { Output } from "../output.ts";
import { streams } from "../../crm/model.ts";
import type { Source } from "../../source/source.ts";

export const addMap: Register = (program, carryOut) => {
  program
    .command("map")
    .description("show records of a source, raw and mapped, and how each field comes about; nothing is kept")
    .argument("<source>", "name of the source in the configuration")
    .argument("<stream>", "customers, orders or staff")
    .option("--limit <number>", "how many records", wholeNumber, 3)
    .option("--record <key>", "only the record with this key or id")
    .option("--show-private", "with personal data; secrets are never shown", false)
    .addHelpText("after", example("crm-sync map erp orders --limit 1", "crm-sync map erp customers --record 4711"))
    .action((source, stream, options) => carryOut((invocation) => mapCommand(invocation, source, stream, options)));
};

interface MapOptions {
  limit: number;
  record?: string | undefined;
  showPrivate: boolean;
}

/** `map`: ends with 3 where a record that it shows would be quarantined, with 7 where the source cannot be read. */
async function mapCommand(
  invocation: Invocation,
  sourceName: string,
  streamName: string,
  options: MapOptions,
): Promise<ExitCode> {
  return await withApplication(
    invocation,
    async (application) => {
      if (options.limit === 0) throw usage("--limit 0 shows nothing", "give at least 1");
      return await showMapped(invocation, application, sourceName, streamName, options);
    },
    { services: false, source: sourceName },
  );
}

async function showMapped(
  { output, signal, options: { json } }: Invocation,
  application: Application,
  sourceName: string,
  streamName: string,
  { limit, record: key, showPrivate }: MapOptions,
): Promise<ExitCode> {
  const { source, stream } = sourceAndStream(application, sourceName, streamName);
  const { mappedExamples } = await import("../../setup/mapped-examples.ts");
  const { mappedText } = await import("../../report/mapped-text.ts");
  const { assumptions, zone } = application.config;
  const { examples, problem } = await mappedExamples(source, stream, assumptions, { limit, key, showPrivate, signal });
  if (json) {
    output.json(toJson({ source: source.name, stream, records: examples, problem: problem?.message ?? null }));
  } else {
    const view = viewOf(output, zone);
    const shown = examples.map((row) => mappedText(row, view)).join("\n\n");
    output.line(shown || (problem === undefined ? nothingFound : unread)(source.name, stream, key));
    if (problem !== undefined) output.note(describeProblem(problem, zone));
  }
  if (problem !== undefined) return exitCodes.sourceDown;
  if (examples.length === 0 && key !== undefined) return exitCodes.usage;
  return examples.some(({ fault }) => fault !== undefined) ? exitCodes.recordsRejected : exitCodes.ok;
}

function unread(source: string, stream: Stream, key: string | undefined): string {
  const what = key === undefined ? "" : `, so ${JSON.stringify(key)} was not looked for in all of it`;
  return `source ${source}, ${stream}: could not be read${what}`;
}

function nothingFound(source: string, stream: Stream, key: string | undefined): string {
  return key === undefined
    ? `source ${source} has no record in ${stream}`
    : `source ${source} has no record in ${stream} whose key or id is ${JSON.stringify(key)}`;
}

export const addWatch: Register = (program, carryOut) => {
  program
    .command("watch")
    .description("show records raw and mapped again each time the configuration is saved; until Ctrl-C")
    .argument("<source>", "name of the source in the configuration")
    .argument("<stream>", "customers, orders or staff")
    .option("--limit <number>", "how many records", wholeNumber, 1)
    .option("--record <key>", "only the record with this key or id")
    .option("--show-private", "with personal data; secrets are never shown", false)
    .addHelpText("after", example("crm-sync watch erp orders --record 10248"))
    .action((source, stream, options) => carryOut((invocation) => watchCommand(invocation, source, stream, options)));
};

/** An editor writes a file in several steps: what comes within this time is one save. Milliseconds. */
const oneSave = 150;

/** `watch`: a mistake in the configuration is told and waited on; it ends with 0 when a person stops it. */
async function watchCommand(
  invocation: Invocation,
  source: string,
  stream: string,
  options: MapOptions,
): Promise<ExitCode> {
  const { output, signal } = invocation;
  const { configFile } = await import("../../app/open-config.ts");
  const file = configFile(invocation.options, invocation.environment);
  try {
    // The folder is watched: many editors put a new file in the place of the old one.
    const saves = watch(dirname(file), { signal });
    let shown: string | undefined;
    const showSaved = async (): Promise<void> => {
      // One save is several events, and each of them finds the same text.
      const text = readFileSync(file, "utf8");
      if (text === shown) return;
      shown = text;
      await mapCommand(invocation, source, stream, options);
      if (!signal.aborted) output.note(`waiting for the next save of ${file}; Ctrl-C ends it`);
    };
    await showSaved();
    for await (const { filename } of saves) {
      if (filename !== basename(file)) continue;
      await pause(oneSave, undefined, { signal });
      if (existsSync(file)) await showSaved();
    }
  } catch (error) {
    if (signal.aborted) return exitCodes.ok;
    const problem = new Problem({
      code: "watch.failed",
      message: `${file} cannot be watched: ${messageOf(error)}`,
      cure: "name the configuration with --config FILE",
      exitCode: exitCodes.usage,
      cause: error,
    });
    return reportFailure(output, problem, invocation.options.json);
  }
  return exitCodes.ok;
}

export const addSchema: Register = (program, carryOut) => {
  program
    .command("schema")
    .description("fields of a source, with types, examples and how often they are filled; nothing is kept")
    .argument("<source>", "name of the source in the configuration")
    .argument("[stream]", "customers, orders or staff (default: each that the source has)")
    .option("--limit <number>", "how many rows are read of each stream", wholeNumber, 1_000)
    .option("--show-private", "with personal data; secrets are never shown", false)
    .addHelpText("after", example("crm-sync schema erp orders"))
    .action((source, stream, options) => carryOut((invocation) => schemaCommand(invocation, source, stream, options)));
};

/** `schema`: ends with 7 where a stream cannot be read. */
async function schemaCommand(
  invocation: Invocation,
  sourceName: string,
  streamName: string | undefined,
  { limit, showPrivate }: { limit: number; showPrivate: boolean },
): Promise<ExitCode> {
  const { output, signal, options } = invocation;
  return await withApplication(
    invocation,
    async (application) => {
      if (limit === 0) throw usage("--limit 0 shows nothing", "give at least 1");
      const { streamSchema } = await import("../../setup/stream-schema.ts");
      const source = sourceNamed(application, sourceName);
      const wanted =
        streamName === undefined ? source.streams : [sourceAndStream(application, sourceName, streamName).stream];
      const found: { stream: Stream; schema: StreamSchema }[] = [];
      for (const stream of wanted)
        found.push({ stream, schema: await streamSchema(source, stream, { limit, showPrivate, signal }) });
      for (const { stream, schema } of found) {
        if (options.json)
          output.json(toJson({ source: source.name, stream, ...schema, problem: schema.problem?.message ?? null }));
        else show(output, source.name, stream, schema, application.config.zone);
      }
      return found.some(({ schema }) => schema.problem !== undefined) ? exitCodes.sourceDown : exitCodes.ok;
    },
    { services: false, source: sourceName },
  );
}

function show(output: Output, source: string, stream: Stream, schema: StreamSchema, zone: string): void {
  const { rows, fields, problem } = schema;
  output.line(`source ${source}, ${stream}: ${wayOf(schema)}`);
  if (fields.length > 0) {
    const columns = ["field", "types", { title: "filled", align: "right" as const }, "read for", "example"];
    const lines = fields.map(({ place, types, filled, fields: readFor, example: shown }) => [
      place,
      types.join(", "),
      `${Math.floor((filled / rows) * 100)} %`,
      readFor.join(", ") || "-",
      shown,
    ]);
    output.line(renderTable(columns, lines, viewOf(output, zone)));
  }
  if (problem !== undefined) output.note(describeProblem(problem, zone));
}

function wayOf({ rows, isAll, problem }: StreamSchema): string {
  if (problem === undefined) return `${isAll ? "all" : "the first"} ${counted(rows, "row")}`;
  return rows === 0 ? "could not be read" : `${counted(rows, "row")}; it could not be read whole`;
}

/** The source that a person named; throws a Problem that lists what there is. */
function sourceNamed(application: Application, name: string): Source {
  const sources = application.sources();
  const source = sources.find((item) => item.name === name);
  if (source !== undefined) return source;
  const known = sources.map((item) => item.name).join(", ");
  throw usage(
    `there is no source ${JSON.stringify(name)}`,
    known === "" ? "the configuration has no sources; add one under `sources`" : `use one of ${known}`,
  );
}

/** The source and the stream that a person named; throws a Problem that lists what there is. */
function sourceAndStream(
  application: Application,
  sourceName: string,
  streamName: string,
): { source: Source; stream: Stream } {
  const source = sourceNamed(application, sourceName);
  const stream = streams.find((name) => name === streamName);
  if (stream !== undefined && source.streams.includes(stream)) return { source, stream };
  throw usage(
    `the source ${sourceName} has no stream ${JSON.stringify(streamName)}`,
    `use one of ${source.streams.join(", ")}`,
  );
}
