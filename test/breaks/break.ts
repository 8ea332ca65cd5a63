import type { MemberCenter, OrderService } from "../../src/platform/services.ts";
import type { Seams } from "../simulation/engine.ts";

/** A scenario with its assertions. It is given nothing, or the seams of a break. */
export type Check = (seams: Seams) => Promise<void>;

/** A fault of the program that no change of one expression makes, and the check that has to see it. */
export interface Break {
  /** What is replaced, and with what. */
  seam: string;
  seams: Seams;
  check: Check;
  /** What the failed assertion says. */
  says: string;
  /** A seed of the simulation whose judge sees it too, and what that says. */
  simulated?: { seed: number; says: string };
  /** It runs in `npm test`. */
  quick?: true;
}

/** By the fault. */
export type Breaks = Readonly<Record<string, Break>>;

/** Puts another method in the place of one of this very object, made from the real one. */
export function replace<Part extends object, Name extends keyof Part>(
  part: Part,
  name: Name,
  put: (real: Part[Name]) => Part[Name],
): void {
  const real = part[name];
  part[name] = put(typeof real === "function" ? real.bind(part) : real);
}

/** The order service with some methods of its own. */
export function orderService(put: (real: OrderService) => Partial<OrderService>): Seams {
  return {
    platform: (real) => ({ ...real, orderService: { ...real.orderService, ...put(real.orderService) } }),
  };
}

/** The member-center with some methods of its own. */
export function memberCenter(put: (real: MemberCenter) => Partial<MemberCenter>): Seams {
  return {
    platform: (real) => ({ ...real, memberCenter: { ...real.memberCenter, ...put(real.memberCenter) } }),
  };
}
