import { hashOf, toJson } from "../base/canonical-json.ts";
import { streams } from "../crm/model.ts";
import type { Stream } from "../crm/model.ts";
import type { SourceSettings } from "./source-settings.ts";

/** How long something is waited for and how often it is tried says nothing of what is asked for. */
const patience = /^(?:\w+Timeout(?:Ms)?|maxPageBytes|retries|retryBaseMs|retryMaxMs)$/u;

/**
 * The fingerprint of the question that a stream asks its source: every setting of the stream and of its source, and
 * what its tables and the files of its queries hold. A stream may be asked for by records of another one, so that one's
 * settings are part of it, but for how it is mapped. As long as it stays, a reading of changes has missed nothing, and
 * one that was cut may go on.
 */
export function questionOf(
  settings: SourceSettings,
  stream: Stream,
  mapping: string,
  files: Readonly<Record<string, string>> = {},
): string {
  const others: Record<string, unknown> = {};
  for (const other of streams)
    if (other !== stream) others[other] = without(settings.streams[other], /^(?:mapping|nullTexts|plausibleDates)$/u);
  const { streams: all, ...ofSource } = settings;
  return hashOf(toJson({ mapping, own: all[stream], others, source: without(ofSource, patience), files }));
}

function without(settings: object | undefined, names: RegExp): Record<string, unknown> {
  return Object.fromEntries(Object.entries(settings ?? {}).filter(([name]) => !names.test(name)));
}
