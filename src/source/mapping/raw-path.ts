import { everyElement } from "./context.ts";

/** A place in a raw record as text: `lines[].licence.password`; `[]` stands for every element. */
export function formatRawPath(steps: readonly (string | number)[]): string {
  let text = "";
  for (const step of steps) {
    if (step === everyElement) text += "[]";
    else if (typeof step === "number") text += `[${step}]`;
    else if (/^[^.[\]^]+$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** Reads what `formatRawPath` wrote. */
export function parseRawPath(text: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const match of text.matchAll(/\[\]|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)) {
    const [, position, quoted, name] = match;
    if (position !== undefined) steps.push(Number(position));
    else if (quoted !== undefined) steps.push(String(JSON.parse(quoted)));
    else steps.push(name ?? everyElement);
  }
  return steps;
}

/** Whether one of two places is the other or lies inside it. */
export function overlaps(left: readonly (string | number)[], right: readonly (string | number)[]): boolean {
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index += 1) {
    const one = left[index];
    const other = right[index];
    if (one === other) continue;
    if (one === everyElement && typeof other === "number") continue;
    if (other === everyElement && typeof one === "number") continue;
    return false;
  }
  return true;
}
