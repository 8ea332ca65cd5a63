import { toJson } from "../../base/canonical-json.ts";
import type { Application } from "../../operate/application.ts";
import { type ExitCode, exitCodes, usage } from "../../base/errors.ts";
import { type Stream, streams } from "../../crm/model.ts";
import { withApplication, type Invocation } from "../command.ts";
import { example, wholeNumber, type Register } from "../command-line.ts";
import { describeProblem, viewOf } from "../output.ts";
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

/** Exit code 3 if a shown record would be quarantined, 7 if the source cannot be read. */
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
