import { isJsonObject } from "../base/canonical-json.ts";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { placeOf } from "./shape.ts";

/** What stands for names that may be data. */
const anyName = "*";

/** Objects that are needed before names count as fields, most names of one place, and how deep they are looked for. */
const leastObjects = 3;
const mostNames = 500;
const deepest = 8;

/** As programs name fields: no address, no number, no name of a person. */
const fieldName = /^[\p{L}_$@#][\p{L}\p{N}_$#:-]{0,59}$/u;
const longNumber = /\d{5}/;

/** The objects that stand at one place. */
interface Objects {
  count: number;
  /** By name: in how many of them it is, and what stands there. */
  members: Map<string, { count: number; inside: Objects }>;
  /** More names than are told apart. */
  tooMany: boolean;
}

const noObjects = (): Objects => ({ count: 0, members: new Map(), tooMany: false });

/** Which names at a place are fields, and what stands behind those that are none. */
interface Judged {
  fields: ReadonlyMap<string, Objects>;
  others: Objects;
}

/**
 * Tells the fields of the objects inside of rows from names that are data, such as the addresses by which an object
 * holds seats. The names of a row are fields. Of an object in it a name is one where the mapping reads it by that name,
 * or where every object at its place has it and few of their names differ; three objects are needed to say so, and a
 * name with a blank, an `@` inside or a long number in it is never one. All others are shown as `*`.
 */
export class MemberNames {
  readonly #root = noObjects();
  readonly #read: ReadonlySet<string>;
  readonly #judged = new Map<Objects, Judged>();

  /** `reads`: the raw places that the mapping reads. */
  constructor(reads: readonly (readonly (string | number)[])[]) {
    const read = new Set<string>();
    for (const steps of reads) {
      const names = steps.filter((step) => typeof step === "string");
      for (let length = 1; length <= names.length; length += 1) read.add(placeOf(names.slice(0, length)));
    }
    this.#read = read;
  }

  see(row: JsonObject): void {
    this.#judged.clear();
    gather(row, this.#root, 0);
  }

  /** The steps to a place as anybody may see them. */
  shownSteps(steps: readonly string[]): string[] {
    let at: Objects | undefined = this.#root;
    const shown: string[] = [];
    for (const [index, name] of steps.entries()) {
      const judged: Judged | undefined = at === undefined ? undefined : this.#judge(at, steps.slice(0, index));
      const inside: Objects | undefined = judged?.fields.get(name);
      shown.push(inside === undefined ? anyName : name);
      at = inside ?? judged?.others;
    }
    return shown;
  }

  /** A row as anybody may see its names: what stands behind those that are no fields is listed at `*`. */
  shown(row: JsonObject): JsonObject {
    const shown = this.#shown(row, this.#root, []);
    return isJsonObject(shown) ? shown : {};
  }

  #shown(value: Json, at: Objects, steps: readonly string[]): Json {
    if (Array.isArray(value)) return value.map((item) => this.#shown(item, at, steps));
    if (!isJsonObject(value)) return value;
    const { fields, others } = this.#judge(at, steps);
    const hidden: Json[] = [];
    const shown: JsonObject = {};
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      const inside = fields.get(name);
      const seen = this.#shown(member, inside ?? others, [...steps, name]);
      if (inside === undefined) hidden.push(seen);
      else shown[name] = seen;
    }
    return hidden.length === 0 ? shown : { ...shown, [anyName]: hidden };
  }

  #judge(at: Objects, steps: readonly string[]): Judged {
    const known = this.#judged.get(at);
    if (known !== undefined) return known;
    const all = [...at.members];
    const isRead = (name: string): boolean => this.#read.has(placeOf([...steps, name]));
    const isConstant = (name: string, count: number): boolean =>
      count === at.count && fieldName.test(name) && !longNumber.test(name);
    const constant = all.filter(([name, { count }]) => isConstant(name, count));
    const isTold = at.count >= leastObjects && !at.tooMany && constant.length * 2 >= all.length;
    const isField = (name: string, count: number): boolean =>
      steps.length === 0 || isRead(name) || (isTold && isConstant(name, count));
    const others = noObjects();
    const fields = new Map<string, Objects>();
    for (const [name, { count, inside }] of all) {
      if (isField(name, count)) fields.set(name, inside);
      else merge(inside, others);
    }
    const judged = { fields, others };
    this.#judged.set(at, judged);
    return judged;
  }
}

function gather(value: Json, into: Objects, depth: number): void {
  if (depth > deepest) return;
  if (Array.isArray(value)) for (const item of value) gather(item, into, depth + 1);
  if (!isJsonObject(value)) return;
  into.count += 1;
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const known = into.members.get(name);
    if (known === undefined && into.members.size >= mostNames && depth > 0) {
      into.tooMany = true;
      continue;
    }
    const one = known ?? { count: 0, inside: noObjects() };
    if (known === undefined) into.members.set(name, one);
    one.count += 1;
    gather(member, one.inside, depth + 1);
  }
}

/** Takes the objects at one place for some at another one. */
function merge(from: Objects, into: Objects): void {
  into.count += from.count;
  into.tooMany ||= from.tooMany;
  for (const [name, { count, inside }] of from.members) {
    const known = into.members.get(name) ?? { count: 0, inside: noObjects() };
    into.members.set(name, known);
    known.count += count;
    merge(inside, known.inside);
  }
}
