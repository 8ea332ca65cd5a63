import {
  TransportFailure,
  type Transport,
  type TransportAnswer,
  type TransportRequest,
} from "../../src/http/transport.ts";
import { failure, Refusal, type Answer } from "../../src/sandbox/answers.ts";
import { createDeferred, openStore, type Store } from "../../src/sandbox/store.ts";
import { createDoor, createTokens } from "../../src/sandbox/door.ts";
import { appliesCall, faultRuleSchema, type Fault, type FaultRule } from "../../src/sandbox/faults.ts";
import { createObservation, type Observation } from "../../src/sandbox/control.ts";
import {
  findEndpoint,
  routes,
  type Call,
  type EndpointId,
  type Platform,
  type ServiceName,
} from "../../src/sandbox/endpoints.ts";
import type { HandEditInput, HandResult } from "../../src/sandbox/hand-edits.ts";
import { faultyAnswer, faultyReply, replyOf } from "../../src/sandbox/exchange.ts";
import { createServices, parseBody } from "../../src/sandbox/services.ts";
import { sandboxSettingsSchema } from "../../src/sandbox/sandbox-settings.ts";
import type { Draws, Timeline } from "./timeline.ts";

/** How long a caller waits for an answer, in virtual milliseconds. */
export const callTimeoutMs = 1_000;
/** How long a request is on its way at most. */
const mostDelayMs = 20;
/** Effects land at most this long after the request has left: below the settle time, as the operator has to see to. */
export const latestEffectMs = 2_500;

/** A call as the judge and the trace see it. */
export interface SeenCall {
  operation: EndpointId;
  path: string;
  body: string | null;
  fault: string | undefined;
}

type FaultMaker = (draws: Draws) => FaultRule;

const onAnything: FaultMaker[] = [
  () => ({ operation: "*", fault: "refused" }),
  () => ({ operation: "*", fault: "resetBefore" }),
  () => ({ operation: "*", fault: "appliedNoReply" }),
  () => ({ operation: "*", fault: "appliedNoReply" }),
  (draws) => ({ operation: "*", fault: "appliedLate", delayMs: draws.whole(0, latestEffectMs) }),
  (draws) => ({ operation: "*", fault: "appliedLate", delayMs: draws.whole(callTimeoutMs, latestEffectMs) }),
  (draws) => ({ operation: "*", fault: "slow", delayMs: draws.whole(0, latestEffectMs) }),
  () => ({ operation: "*", fault: "resetMidReply" }),
  () => ({ operation: "*", fault: "silence" }),
  () => ({ operation: "*", fault: "silence", applied: true }),
  (draws) => ({ operation: "*", fault: "code500", applied: draws.chance(0.5) }),
  (draws) => ({ operation: "*", fault: "status299", applied: draws.chance(0.5) }),
  (draws) => ({ operation: "*", fault: "http502", applied: draws.chance(0.5) }),
  (draws) => ({ operation: "*", fault: "http503", applied: draws.chance(0.3) }),
  () => ({ operation: "*", fault: "http429" }),
  (draws) => ({ operation: "*", fault: "wrongJson", applied: draws.chance(0.5) }),
  (draws) => ({ operation: "*", fault: "oddCode", applied: draws.chance(0.5) }),
  () => ({ operation: "*", fault: "wrongShape" }),
  () => ({ operation: "*", fault: "expiredToken" }),
];
const onOperation: Partial<Record<EndpointId, FaultMaker[]>> = {
  E5: [
    () => ({ operation: "E5", fault: "e5MissingSequence" }),
    () => ({ operation: "E5", fault: "e5DuplicateSequence" }),
  ],
  M1: [(draws) => ({ operation: "M1", fault: "partialM1", drop: draws.whole(1, 2) })],
  M5: [(draws) => ({ operation: "M5", fault: "shortPage", drop: draws.whole(1, 2), shrinkTotal: draws.chance(0.3) })],
  M6: [(draws) => ({ operation: "M6", fault: "shortPage", drop: draws.whole(1, 2) })],
};

/** Both remote services in this process: the sandbox's own code behind a road without sockets, in virtual time. */
export class SimulatedServices {
  /** What the services keep, for judges. */
  readonly store: Store["database"];
  readonly observation: Observation;
  readonly calls: SeenCall[] = [];
  /** How many faults of each kind calls have met. */
  readonly faults = new Map<string, number>();
  /** Probability that a call meets a fault; 0 when faults have stopped. */
  faultRate = 0;
  /** The service that nobody reaches. */
  down: ServiceName | undefined;
  /** Writing calls that left the program, whether or not they arrived. */
  writesLeft = 0;
  /** Told of every call when it leaves the program. */
  onLeave: (operation: EndpointId, call: Pick<Call, "parameters" | "body">) => void = () => {};
  /** Says no to a call as it stands, for the sake of what it asks for; undefined: it may be taken. */
  refuses: (operation: EndpointId, call: Call) => Answer | undefined = () => undefined;
  /** Told of every call that was refused, where the program hears of it. */
  onRefused: (operation: EndpointId, call: Call, code: string) => void = () => {};
  /** Told of every other answer that the program hears as it was given. */
  onAnswered: (operation: EndpointId, answer: Answer) => void = () => {};
  /** What the services' own clock says. */
  wall: () => number;
  readonly #timeline: Timeline;
  readonly #draws: Draws;
  readonly #services: ReturnType<typeof createServices>;
  readonly #door: ReturnType<typeof createDoor>;
  readonly #deferred: ReturnType<typeof createDeferred>;
  readonly #errorStatus: 200 | 299;
  /** Faults that the next calls of an operation meet, one each, whatever is drawn. */
  readonly #planned = new Map<EndpointId, Fault[]>();
  /**
   * M6 has no total: that a row is missing can be seen in no way but by reading again. So it is short once, and only
   * where readings are many.
   */
  #hasLied: boolean;
  readonly #shortM6: boolean;

  constructor(timeline: Timeline, draws: Draws, options: { shortM6: boolean }) {
    this.#shortM6 = options.shortM6;
    this.#hasLied = !options.shortM6;
    this.#timeline = timeline;
    this.#draws = draws;
    this.#errorStatus = draws.chance(0.5) ? 299 : 200;
    const clock = timeline.clock();
    this.wall = () => clock.now();
    const settings = sandboxSettingsSchema.parse({ errorStatus: this.#errorStatus });
    const store = openStore(":memory:");
    this.store = store.database;
    const platform: Platform = {
      store,
      settings,
      now: () => clock.now(),
      enterpriseCode: (number) => `E${String(number).padStart(5, "0")}`,
      defer: (kind, payload, delayMs) => this.#deferred.add(kind, payload, delayMs),
    };
    this.#services = createServices(platform);
    this.#deferred = createDeferred(
      store,
      clock,
      (kind, payload) => {
        this.#timeline.touch();
        this.#services.runDeferred(kind, payload);
      },
      this.#services.giveUpDeferred,
    );
    this.#door = createDoor(createTokens(store, settings, () => clock.now(), draws));
    this.observation = createObservation(store);
  }

  get faultCount(): number {
    return [...this.faults.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Writing calls that reached the services so far. */
  get writingCalls(): number {
    return this.calls.filter((call) => routes[call.operation].writes).length;
  }

  close(): void {
    this.store.close();
  }

  /** Does something on the platform itself, as somebody else than the program would. */
  byHand(operation: EndpointId, parameters: string[], body: object): Answer {
    const text = JSON.stringify(body);
    return this.#services.run(operation, {
      parameters,
      query: new URLSearchParams(),
      body: parseBody(text),
      text,
      failingEntries: 0,
    });
  }

  /** Does something on the platform's own pages, past every call. */
  hand(edit: HandEditInput): HandResult {
    return this.#services.hand(edit);
  }

  /** Carries one request there and its answer back, where `hears` says so. Rejects as a transport does. */
  carry(request: TransportRequest, hears: () => boolean = () => true): Promise<TransportAnswer> {
    this.#timeline.touch();
    const leaving = findEndpoint(request.method, request.path.split("?")[0] ?? "");
    if (leaving !== undefined && routes[leaving.id].writes) this.writesLeft += 1;
    if (leaving !== undefined)
      this.onLeave(leaving.id, { parameters: leaving.parameters, body: parseBody(request.body ?? "") });
    return new Promise((resolve, reject) => {
      let stopListening = (): void => {};
      const fail = (reason: string, written = true): void => {
        timeOut();
        stopListening();
        reject(new TransportFailure({ written, reason }));
      };
      const timeOut = this.#timeline.after(callTimeoutMs, () => fail("the call took too long"));
      const { signal } = request;
      if (signal !== undefined) {
        const stop = (): void => fail("stopped");
        if (signal.aborted) {
          stop();
          return;
        }
        signal.addEventListener("abort", stop, { once: true });
        stopListening = () => signal.removeEventListener("abort", stop);
      }
      this.#timeline.after(this.#draws.whole(0, mostDelayMs), () => {
        void this.#serve(request, fail, hears).then((answer) => {
          if (answer === undefined) return;
          timeOut();
          stopListening();
          resolve(answer);
        });
      });
    });
  }

  async #serve(
    request: TransportRequest,
    fail: (reason: string, written?: boolean) => void,
    hears: () => boolean,
  ): Promise<TransportAnswer | undefined> {
    this.#timeline.touch();
    const cut = request.path.indexOf("?");
    const path = cut < 0 ? request.path : request.path.slice(0, cut);
    const query = new URLSearchParams(cut < 0 ? "" : request.path.slice(cut + 1));
    const found = findEndpoint(request.method, path);
    if (found === undefined) throw new Error(`no ${request.method} ${path}`);
    const operation = found.id;
    const fault = this.#drawFault(operation);
    if (fault === "unreachable") {
      fail("ECONNREFUSED", false);
      return undefined;
    }
    this.calls.push({ operation, path, body: request.body, fault: fault?.fault });
    const text = request.body ?? "";
    const failingEntries = fault?.fault === "partialM1" ? fault.drop : 0;
    const call: Call = { parameters: found.parameters, query, body: parseBody(text), text, failingEntries };
    const answer = (): Answer => {
      const headers: Record<string, string> = {};
      for (let index = 0; index + 1 < request.headers.length; index += 2)
        headers[(request.headers[index] ?? "").toLowerCase()] = request.headers[index + 1] ?? "";
      try {
        this.#door(routes[operation].service, headers, text !== "", query);
      } catch (error) {
        if (error instanceof Refusal) return failure(error.code, error.reason);
        throw error;
      }
      const refused = this.refuses(operation, call);
      if (refused !== undefined) return refused;
      return this.#services.run(operation, call);
    };
    if (fault === undefined) {
      const said = answer();
      if (hears()) {
        if (typeof said.code === "string") this.onRefused(operation, call, said.code);
        else this.onAnswered(operation, said);
      }
      return this.#onWire(replyOf(said, this.#errorStatus));
    }
    if (fault.fault === "refused") {
      fail("ECONNRESET");
      return undefined;
    }
    if (fault.fault === "slow") await this.#timeline.sleep(fault.delayMs);
    const truth = appliesCall(fault) ? answer() : undefined;
    if (fault.fault === "slow" && truth?.code === 0 && fault.delayMs < callTimeoutMs - mostDelayMs && hears())
      this.onAnswered(operation, truth);
    switch (fault.fault) {
      case "resetBefore":
      case "appliedNoReply":
      case "resetMidReply":
        fail("ECONNRESET");
        return undefined;
      case "appliedLate":
        if (this.refuses(operation, call) !== undefined) return undefined;
        this.#services.runLater(operation, call, fault.delayMs);
        return undefined;
      case "silence":
        return undefined;
      default:
    }
    const reply = faultyReply(fault, operation, truth, this.#errorStatus);
    return this.#onWire(reply ?? replyOf(faultyAnswer(fault, truth ?? failure("500", "fault")), this.#errorStatus));
  }

  #onWire(reply: { status: number; headers?: Record<string, string>; body: string }): TransportAnswer {
    return { status: reply.status, retryAfter: reply.headers?.["retry-after"], date: this.wall(), text: reply.body };
  }

  /** The next call of the rule's operation meets its fault, and as many after it as `times` says. */
  plan({ times = 1, ...rule }: FaultRule & { operation: EndpointId }): void {
    const fault = faultRuleSchema.parse(rule);
    const before = this.#planned.get(rule.operation) ?? [];
    this.#planned.set(rule.operation, [...before, ...Array.from({ length: times }, () => fault)]);
  }

  #drawFault(operation: EndpointId): Fault | "unreachable" | undefined {
    if (routes[operation].service === this.down) return "unreachable";
    const planned = this.#planned.get(operation)?.shift();
    if (planned !== undefined) return planned;
    const rate = routes[operation].writes ? this.faultRate : this.faultRate / 2;
    if (!this.#draws.chance(rate)) return undefined;
    const count = (name: string): void => void this.faults.set(name, (this.faults.get(name) ?? 0) + 1);
    if (this.#draws.chance(0.08)) {
      count("unreachable");
      return "unreachable";
    }
    const own = this.#hasLied && operation === "M6" ? undefined : onOperation[operation];
    const makers = own !== undefined && this.#draws.chance(0.25) ? own : onAnything;
    const make = this.#draws.pick(makers);
    if (make === undefined) return undefined;
    const fault = faultRuleSchema.parse(make(this.#draws));
    count(fault.fault);
    if (operation === "M6" && fault.fault === "shortPage") this.#hasLied = true;
    // Two lists that are short at the same time without a trace cannot be told from a person who holds nothing any
    // more.
    if (operation === "M5" && this.#shortM6) return { ...fault, shrinkTotal: false };
    return fault;
  }
}

/**
 * The transport of one engine: `gate` lets nothing through once the engine is dead, and then nobody hears what is still
 * answered.
 */
export function transportTo(
  services: SimulatedServices,
  gate: <T>(work: () => Promise<T>) => Promise<T>,
  hears: () => boolean,
): Transport {
  return { send: (request) => gate(() => services.carry(request, hears)), close: () => Promise.resolve() };
}
