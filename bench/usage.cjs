/**
 * Loaded by `--require` before a measured program. When the process ends, it writes what the process used to file
 * descriptor 3 as JSON: `cpuSeconds` (user and system, all threads) and `peakMegabytes` (largest resident size). Plain
 * JavaScript, so that a bundle is not charged for taking types away.
 */
const { readFileSync, writeSync } = require("node:fs");
const { isMainThread } = require("node:worker_threads");

if (isMainThread)
  process.on("exit", () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6;
    writeSync(3, JSON.stringify({ cpuSeconds, peakMegabytes: peakKilobytes() / 1024 }));
  });

/**
 * The kernel's own mark counts from the start of this program; `maxRSS` also counts the process that started it, so it
 * comes second.
 */
function peakKilobytes() {
  try {
    const found = /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    if (found !== undefined) return Number(found);
  } catch {
    // There is no /proc on this system.
  }
  return process.resourceUsage().maxRSS;
}
