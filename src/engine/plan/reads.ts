import type { LoadedCustomer, PlanOptions } from "./input.ts";
import { isAsked } from "./input.ts";
import { handedIn } from "../model/registry.ts";

/** The readings that a resource needs before it plans; empty if it depends on nothing. */
export interface Reads {
  /** E3, to find the enterprise. */
  enterprises?: boolean;
  /** M5 and M6, and M8 if they show something lent. */
  people?: boolean;
  /** M8 in any case. */
  loans?: boolean;
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
  /** Contents instead of those that resources name; with `contents: undefined`, none. */
  instead?: { contents: Contents | undefined };
};

/** The readings that all resources need together. A customer without an enterprise needs only E3. */
export function readsOf(
  loaded: LoadedCustomer,
  options: ReadOptions,
): Required<Reads> & { seats: ReadonlySet<string> } {
  const isLinked = loaded.known.link !== undefined;
  const { resources } = handedIn();
  const asked = resources.filter((one) => isAsked(one, "reads", { ...loaded, ...options }));
  const all = asked.map(({ reads }) => reads?.(loaded, options) ?? {});
  const contents = options.instead === undefined ? all.find((one) => one.contents)?.contents : options.instead.contents;
  const ends = contents?.ends === true;
  const people = isLinked && (ends || all.some((one) => one.people));
  return {
    enterprises: all.some((one) => one.enterprises),
    people,
    loans: isLinked && (ends || all.some((one) => one.loans)),
    seats: new Set(people ? resources.flatMap(({ seats }) => [...(seats?.(loaded) ?? [])]) : []),
    contents: isLinked ? contents : undefined,
  };
}
