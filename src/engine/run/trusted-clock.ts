import { ReadFailure, type HeardTime } from "../../http/call.ts";
import {
  keptForMs,
  toleranceMs,
  TrustedTime,
  type ClockDoubt,
  type ClockEvidence,
  type ServiceTime,
} from "../../base/trusted-time.ts";
import type { RunDependencies } from "./request.ts";

type Dependencies = Pick<RunDependencies, "ledger" | "clock" | "platform" | "settings">;

const nobody = "crm-sync-time";

/** Compares this computer's clock with the services and the ledger, for one command. */
export class TrustedClock {
  readonly #deps: Dependencies;
  readonly #since: number;
  readonly #asked = new Map<string, Promise<void>>();
  #kept = 0;
  #doubt: ClockDoubt | undefined;
  #isServiceDown = false;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#since = deps.clock.monotonic();
  }

  /** Why the clock was not trusted. Undefined: it always was. */
  get doubt(): ClockDoubt | undefined {
    return this.#doubt;
  }

  /** Undefined if the clock is not trusted. `isFresh`: times recorded in the ledger do not count. */
  async now({ isFresh }: { isFresh: boolean }): Promise<TrustedTime | undefined> {
    const { newest, kept } = this.#deps.ledger.time.known;
    if (isFresh || !this.#isYoung(kept)) await this.#ask(1);
    return await this.#judge({ newest, kept: isFresh ? [] : kept });
  }

  /** By this computer and the services alone, without the ledger. */
  async agreed(): Promise<TrustedTime | undefined> {
    await this.#ask(2);
    return await this.#judge({ newest: 0, kept: [] });
  }

  async #judge(known: Pick<ClockEvidence, "newest" | "kept">): Promise<TrustedTime | undefined> {
    const judged = (): TrustedTime | ClockDoubt =>
      TrustedTime.judge({ now: this.#deps.clock.now(), read: this.#heard(), ...known });
    // Either time may be wrong, or was heard too long ago.
    if (!(judged() instanceof TrustedTime)) await this.#ask(2);
    const found = judged();
    const agreed = found instanceof TrustedTime ? found : undefined;
    await this.#keep(agreed);
    if (!(found instanceof TrustedTime)) {
      const isDown = this.#isServiceDown && this.#heard().length === 0;
      this.#doubt ??= isDown ? { ...found, isServiceDown: true } : found;
    }
    return agreed;
  }

  /** Records the services' times when one more service answered, or when they agree. */
  async #keep(agreed: TrustedTime | undefined): Promise<void> {
    const heard = this.#heard();
    const known = heard.length + (agreed === undefined ? 0 : 1);
    if (heard.length === 0 || known <= this.#kept) return;
    await this.#deps.ledger.time.keep(heard, agreed);
    this.#kept = known;
  }

  #heard(): (ServiceTime & { isSure: boolean })[] {
    const { clock, platform } = this.#deps;
    const { orderService, memberCenter } = platform.state();
    return Object.entries({ "order-service": orderService, "member-center": memberCenter }).flatMap(
      ([service, { heard }]) => {
        if (heard === undefined || heard.readAt < this.#since) return [];
        return [{ service, time: heard.date + clock.monotonic() - heard.readAt, isSure: this.#isSure(heard) }];
      },
    );
  }

  /** Both clocks counted the same time: no suspend, and nobody set them. */
  #isSure({ readAt, now }: HeardTime): boolean {
    const { clock } = this.#deps;
    return Math.abs(clock.now() - now - (clock.monotonic() - readAt)) <= toleranceMs;
  }

  #isYoung(kept: readonly ServiceTime[]): boolean {
    const now = this.#deps.clock.now();
    return kept.some(({ time }) => Math.abs(now - time) <= keptForMs);
  }

  async #ask(enough: number): Promise<void> {
    const { orderService, memberCenter } = this.#deps.platform;
    const channelCode = this.#deps.settings.channelCode ?? nobody;
    const calls: Record<string, () => Promise<unknown>> = {
      "order-service": async () => await orderService.findCustomers(channelCode, nobody, "N", {}),
      "member-center": async () => await memberCenter.listAssetNumbers(nobody, {}),
    };
    for (const [service, call] of Object.entries(calls)) {
      const heard = this.#heard();
      if (heard.filter(({ isSure }) => isSure).length >= enough) return;
      const said = heard.find((one) => one.service === service);
      if (said?.isSure === true) continue;
      if (said !== undefined) this.#asked.delete(service);
      const asked = this.#asked.get(service) ?? this.#told(call());
      this.#asked.set(service, asked);
      await asked;
    }
  }

  async #told(answer: Promise<unknown>): Promise<void> {
    try {
      await answer;
    } catch (thrown) {
      // A service that rejects the question has answered.
      if (thrown instanceof ReadFailure && thrown.kind !== "code") this.#isServiceDown = true;
    }
  }
}
