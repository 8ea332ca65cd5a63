import type { z } from "zod";
import type { EndpointId } from "../endpoints.ts";

type Shape = z.ZodRawShape;

/** `A1` to `A43`. */
export type AssumptionId = `A${number}`;

/** The keys of settings, those of a map in them with a dot: `timeCodecs`, `timeCodecs.productLimit`. */
type KeyOf<S extends Shape> = {
  [Key in keyof S & string]:
    | Key
    | (S[Key] extends z.ZodPrefault<z.ZodObject<infer Inner>> ? `${Key}.${keyof Inner & string}` : never);
}[keyof S & string];

/** That an endpoint cannot be called while a setting has no value. */
interface Need<Key extends string, Use extends string, Settings> {
  /** Under `assumptions` in the configuration. */
  key: Key;
  endpoints: readonly EndpointId[];
  /** What the payload holds where it is needed; absent where the endpoint always needs it. */
  use?: Use;
  /** It is not needed while the settings of the row are these. */
  unless?: Partial<Settings>;
  /** What may stand there: words to choose from, or what is asked for. */
  choices: readonly string[];
}

/** What the contracts leave open: all that the program says of one of A1–A43, and the settings that decide it. */
interface Row<S extends Shape, Use extends string> {
  id: AssumptionId;
  /** An assumption is about the services and can be contradicted by reality; a choice is ours. */
  kind: "assumption" | "choice";
  /** What the owner of the services is asked. */
  question: string;
  /** What holds unless it is set otherwise. */
  default: string;
  /**
   * Where it is decided: by keys of its own, by settings of other rooms, or `fixed` in the program.
   */
  decidedBy: readonly (keyof NoInfer<S> & string)[] | "fixed" | { setting: string };
  /** Its keys under `assumptions` in the configuration. */
  settings: S;
  needs?: readonly Need<KeyOf<NoInfer<S>>, Use, z.output<z.ZodObject<NoInfer<S>>>>[];
}

/** A row as the lists hold it, whatever its settings are. */
export interface AnyRow<Use extends string> {
  readonly id: AssumptionId;
  readonly kind: "assumption" | "choice";
  readonly question: string;
  readonly default: string;
  readonly decidedBy: readonly string[] | "fixed" | { setting: string };
  readonly settings: Shape;
  readonly needs?: readonly Need<string, Use, Readonly<Record<string, unknown>>>[];
}

/** Rows, with the settings of all of them as one shape; its type grows with each row, so no key is said twice. */
class Rows<S extends Shape, Use extends string> {
  readonly list: readonly AnyRow<Use>[];
  readonly shape: S;

  constructor(list: readonly AnyRow<Use>[], shape: S) {
    this.list = list;
    this.shape = shape;
  }

  row<New extends Shape, const NewUse extends string = never>(row: Row<New, NewUse>): Rows<S & New, Use | NewUse> {
    return this.and(new Rows<New, NewUse>([row], row.settings));
  }

  /** These rows, then the others. */
  and<New extends Shape, NewUse extends string>(others: Rows<New, NewUse>): Rows<S & New, Use | NewUse> {
    return new Rows<S & New, Use | NewUse>([...this.list, ...others.list], { ...this.shape, ...others.shape });
  }
}

/** The row that a list begins with. */
export function row<S extends Shape, const Use extends string = never>(first: Row<S, Use>): Rows<S, Use> {
  return new Rows<S, Use>([first], first.settings);
}

/** A1 to A43, in this order. */
export const assumptionIds: readonly AssumptionId[] = Array.from(
  { length: 43 },
  (_, index): AssumptionId => `A${index + 1}`,
);
