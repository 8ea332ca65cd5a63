import { readFileSync, statfsSync, statSync } from "node:fs";

/** The running system that a process is on, as far as the death of another process can be told by it. */
export interface Host {
  /**
   * Names this running system and the lock of this very file. Whoever finds the same name later, and holds that lock,
   * knows that the system freed it: who had it is dead. Undefined where that would prove nothing.
   */
  holderOf(lockFile: string): string | undefined;
  /** How far the clocks of two computers, and of a service, may be apart; milliseconds. */
  readonly clockSkewMs: number;
}

const clockSkewMs = 300_000;

/**
 * File systems whose locks the kernel keeps by itself: ext, xfs, btrfs, tmpfs, overlay, zfs, f2fs, bcachefs. Any other
 * may be shared with another computer, or forget a lock.
 */
const localFileSystems = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);

/**
 * The host of a boot: `boot` differs from one start of a kernel to the next, on all computers. A machine id says less:
 * a copy of a disk has the same one, and is another computer.
 */
export function hostOf(boot: () => string | undefined): Host {
  return {
    clockSkewMs,
    holderOf(lockFile) {
      try {
        const name = boot();
        if (name === undefined || !localFileSystems.has(statfsSync(lockFile).type)) return undefined;
        const { dev, ino } = statSync(lockFile, { bigint: true });
        return `${name} ${dev}:${ino}`;
      } catch {
        return undefined;
      }
    },
  };
}

/** This one. Linux alone names its boot: elsewhere nothing is proven. */
export const systemHost: Host = hostOf(() =>
  process.platform === "linux" ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() : undefined,
);
