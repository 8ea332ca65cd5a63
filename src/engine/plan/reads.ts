import type { LoadedCustomer, PlanOptions } from "./input.ts";
import { handedIn } from "../model/registry.ts";

/** What a resource says must be read of the platform before the plan. Nothing, if nothing depends on it. */
export interface Reads {
  /** E3, to find the enterprise. */
  enterprises?: boolean;
  /** M5 and M6, and M8 if they show something lent. */
  people?: boolean;
  /** M8 in any case. */
  loans?: boolean;
  /** Asset numbers that people hold or are given: if M6 leaves one out, E8 is read too. */
  seats?: ReadonlySet<string>;
  /** M7 of these asset numbers. `ends`: something may be removed, which depends on M5, M6 and M8 too. */
  contents?: Contents | undefined;
}

interface Contents {
  numbers: ReadonlySet<string> | "all";
  ends: boolean;
}

export type ReadOptions = Pick<PlanOptions, "settings" | "policies" | "repairs"> & {
  /** People are read even if nothing changed. */
  thorough: boolean;
  /** Contents in place of those that resources name; undefined in it: none. */
  instead?: { contents: Contents | undefined };
};

/** What all resources need together. Only E3 is read of a customer without an enterprise. */
export function readsOf(loaded: LoadedCustomer, options: ReadOptions): Required<Reads> {
  const isLinked = loaded.known.link !== undefined;
  const all = handedIn().resources.map((resource) => resource.reads?.(loaded, options) ?? {});
  const contents = options.instead === undefined ? all.find((one) => one.contents)?.contents : options.instead.contents;
  const ends = contents?.ends === true;
  const people = isLinked && (ends || all.some((one) => one.people));
  return {
    enterprises: all.some((one) => one.enterprises),
    people,
    loans: isLinked && (ends || all.some((one) => one.loans)),
    seats: people ? all.reduce((seats, one) => seats.union(one.seats ?? new Set()), new Set<string>()) : new Set(),
    contents: isLinked ? contents : undefined,
  };
}
