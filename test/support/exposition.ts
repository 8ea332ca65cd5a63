import { expect } from "vitest";

/** A value of a metric with its labels. */
export interface Sample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** What a scrape gave, in the text format of Prometheus. */
export interface Scrape {
  text: string;
  samples: Sample[];
  /** Metrics by name, as their HELP and TYPE say. */
  metrics: Map<string, { help: string; type: string }>;
}

const labelled = /(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)/gu;

/** Reads a scrape; fails the test at a line that is not of the format. */
export function readScrape(text: string): Scrape {
  const samples: Sample[] = [];
  const metrics: Scrape["metrics"] = new Map();
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const [, word, about = "", said = ""] = /^# (HELP|TYPE) (\S+) (.+)$/u.exec(line) ?? [];
    if (word !== undefined) {
      const known = metrics.get(about) ?? { help: "", type: "" };
      metrics.set(about, word === "HELP" ? { ...known, help: said } : { ...known, type: said });
      continue;
    }
    const [, name = "", labels = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/u.exec(line) ?? [];
    expect(name, `no line of a scrape: ${line}`).not.toBe("");
    const found = [...labels.matchAll(labelled)].map(([, key = "", text_ = ""]): [string, string] => [key, text_]);
    samples.push({ name, labels: Object.fromEntries(found), value: Number(value) });
  }
  return { text, samples, metrics };
}

/** The sum of all values of a metric whose labels are these, whatever the others are; undefined where there is none. */
export function valueOf(
  { samples }: Scrape,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}
