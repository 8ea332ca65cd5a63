import type { Application } from "../operate/application.ts";
import { usage } from "../base/errors.ts";
import { streams } from "../crm/model.ts";
import type { Stream } from "../crm/model.ts";
import type { Source } from "../source/source.ts";

/** The source that a person named; throws a Problem that lists what there is. */
export function sourceNamed(application: Application, name: string): Source {
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
export function sourceAndStream(
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
