import type { Json } from "../../base/canonical-json.ts";
import type { ColumnFacts } from "./columns.ts";
import type { Doubt } from "./doubt.ts";

/** The condition under which a record is left out, beside its mapping. */
export interface ProposedSkip {
  expression: Json;
  doubt: Doubt;
}

/** The words of a column that says how far a sale is, by what becomes of the order. */
export interface StatesOfSale {
  path: string;
  /** The order is cancelled: its licences are removed. */
  over: readonly string[];
  /** It is no order, or not yet one. */
  notYet: readonly string[];
  /** It counts. */
  going: readonly string[];
}

const over = /cancel|void|storn|reject|widerruf/iu;
const yes = /^(?:true|1|y|yes|x|ja)$/iu;
const won = /won\b|gewonnen/iu;
const notYet =
  /draft|quot|proposal|negotiat|prospect|lost|qualif|lead\b|appointment|presentation|decision|angebot|entwurf|verloren|verhandlung|interess|anfrage/iu;
const counts =
  /^(?:open|offen|pending|processing|confirmed|approved|ordered|closed|completed?|done|delivered|shipped|paid|invoiced|fulfilled|active|bestellt|auftrag|bestätigt|bestaetigt|geliefert|bezahlt|abgeschlossen|erledigt|berechnet|fakturiert)$/iu;

/** Most different words of a column of states. */
const mostStates = 12;

/** Whether at least half of the few words of a column are states of a sale. */
export function looksLikeStates({ examples, isOfList }: ColumnFacts): boolean {
  if (isOfList || examples.length === 0 || examples.length > mostStates) return false;
  if (examples.some((word) => /\d/u.test(word))) return false;
  const known = examples.filter((word) => [over, won, notYet, counts].some((pattern) => pattern.test(word)));
  return known.length * 2 >= examples.length;
}

/** What each word of a column means. In a column that knows sales that are won, no other word is an order. */
export function statesOf({ path, plain, examples }: ColumnFacts): StatesOfSale {
  const isAnswer = /cancel|storn/u.test(plain);
  const isOver = (word: string): boolean => over.test(word) || (isAnswer && yes.test(word));
  const isWon = examples.some((word) => won.test(word));
  const isNotYet = (word: string): boolean =>
    isWon ? !won.test(word) && (notYet.test(word) || !finished.test(word)) : notYet.test(word);
  const others = examples.filter((word) => !isOver(word));
  return {
    path,
    over: examples.filter(isOver),
    notYet: others.filter(isNotYet),
    going: others.filter((word) => !isNotYet(word)),
  };
}

/** What comes after a sale is won. */
const finished = /delivered|shipped|paid|invoiced|fulfilled|geliefert|bezahlt|berechnet|fakturiert/iu;

/** Leaves out what these columns say is not an order; undefined where they say nothing of the kind. */
export function skipOf(columns: readonly StatesOfSale[]): ProposedSkip | undefined {
  const told = columns.filter((states) => states.notYet.length > 0);
  const conditions = told.map(({ path, notYet: words }): Json => ({ path, in: [...words] }));
  const [only] = conditions;
  if (only === undefined) return undefined;
  const means = told.map(({ path, notYet: words }) => `${quoted(words)} in ${path}`).join(", ");
  return {
    expression: conditions.length === 1 ? only : { any: conditions },
    doubt: {
      at: [],
      text: `${means} ${told.flatMap((item) => item.notYet).length === 1 ? "means" : "mean"} no order: such rows are left out`,
    },
  };
}

/** Words as a sentence names them. */
export function quoted(words: readonly string[]): string {
  return words.map((word) => JSON.stringify(word)).join(" and ");
}
