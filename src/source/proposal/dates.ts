import type { JsonObject } from "../../base/canonical-json.ts";

/** How times are written in a column: what the operator `date` takes beside it, and what nobody can tell. */
interface DateGuess {
  options: JsonObject;
  doubt: string | undefined;
}

const zoneDoubt = "the zone of these times";

const forms: readonly { shape: RegExp; format: string; doubt?: string; isLocal: boolean }[] = [
  { shape: /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)$/u, format: "iso", isLocal: false },
  { shape: /^\d{4}-\d\d-\d\dT[\d:.]+$/u, format: "iso", isLocal: true },
  { shape: /^\d{4}-\d\d-\d\d$/u, format: "yyyy-MM-dd", isLocal: true },
  { shape: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/u, format: "yyyy-MM-dd HH:mm:ss.SSS", isLocal: true },
  { shape: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/u, format: "yyyy-MM-dd HH:mm:ss", isLocal: true },
  { shape: /^\d{4}-\d\d-\d\d \d\d:\d\d$/u, format: "yyyy-MM-dd HH:mm", isLocal: true },
  { shape: /^\d\d\.\d\d\.\d{4}$/u, format: "dd.MM.yyyy", isLocal: true },
  { shape: /^\d\d\.\d\d\.\d{4} \d\d:\d\d$/u, format: "dd.MM.yyyy HH:mm", isLocal: true },
  { shape: /^\d{1,2}\.\d{1,2}\.\d{4}$/u, format: "d.M.yyyy", isLocal: true },
  { shape: /^\d{1,2}\.\d{1,2}\.\d{4} \d{1,2}:\d\d$/u, format: "d.M.yyyy H:mm", isLocal: true },
  { shape: /^\d{8}$/u, format: "yyyyMMdd", isLocal: true },
  { shape: /^1\d{9}$/u, format: "epoch_s", isLocal: false },
  { shape: /^1\d{12}$/u, format: "epoch_ms", isLocal: false },
];

/** From this share of the texts on, it is their form and the others are bad. */
const nearlyAll = 0.9;

/** The form of all these texts but for a few; undefined where they have none that is known. */
export function dateForm(texts: readonly string[], zone: string): DateGuess | undefined {
  if (texts.length === 0) return undefined;
  const haveForm = (shape: RegExp): string[] | undefined => {
    const found = texts.filter((text) => shape.test(text));
    return found.length >= texts.length * nearlyAll ? found : undefined;
  };
  const form = forms.find(({ shape }) => haveForm(shape) !== undefined);
  if (form !== undefined) {
    const options = { ...(form.format === "iso" ? {} : { format: form.format }), ...(form.isLocal ? { zone } : {}) };
    return { options, doubt: form.isLocal ? zoneDoubt : undefined };
  }
  const examples = haveForm(/^\d{1,2}\/\d{1,2}\/\d{4}$/u);
  if (examples === undefined) return undefined;
  const isDayFirst = examples.some((text) => Number(text.split("/")[0]) > 12);
  const isMonthFirst = examples.some((text) => Number(text.split("/")[1]) > 12);
  const doubt = isDayFirst || isMonthFirst ? zoneDoubt : `whether the day or the month is first, and ${zoneDoubt}`;
  return { options: { format: isMonthFirst ? "M/d/yyyy" : "d/M/yyyy", zone }, doubt };
}
