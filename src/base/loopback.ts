const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u;

/** Whether an address leads to this machine. */
export function isLoopback(url: URL): boolean {
  return loopback.test(url.hostname);
}

/** Whether what is sent to an address can be read on its way: plain http to another machine. */
export function isPlainHttp(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  return url.protocol === "http:" && !isLoopback(url);
}

/** Whether a host name or an address, as a server listens on it or a socket shows it, is of this machine alone. */
export function isLoopbackHost(host: string): boolean {
  const plain = host.replace(/^::ffff:(?=\d+\.)/iu, "").toLowerCase();
  return loopback.test(plain.includes(":") && !plain.startsWith("[") ? `[${plain}]` : plain);
}
