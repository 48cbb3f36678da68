/** Every attempt of this process to connect, wherever it goes. */
import { createHook } from 'node:async_hooks';

interface Connection {
  address?: string;
  port?: number;
}

/**
 * Files of tests share a process, and pools of an earlier one may still connect to their servers on this machine: those are
 * left out, since only `ports` of it are of interest here.
 */
export function watchConnections(ports: () => readonly number[]) {
  const begun: Connection[] = [];
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type === 'TCPCONNECTWRAP') begun.push(resource);
    },
  });
  const isOfOthers = ({ address, port }: Connection) =>
    address !== undefined && /^(127\.|::1$)/.test(address) && port !== undefined && !ports().includes(port);
  return {
    /** Forgets what was seen. */
    begin() {
      begun.length = 0;
      hook.enable();
    },
    end: () => void hook.disable(),
    /** The addresses, in order. */
    tried: () => begun.filter((one) => !isOfOthers(one)).map(({ address }) => address),
  };
}
