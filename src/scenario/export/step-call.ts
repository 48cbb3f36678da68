/** What a step does as a call of a function of `rewards/testing`. */
import type { Step } from '../format/scenario.ts';
import { hasVariable } from '../format/variables.ts';
import type { Known } from './known.ts';
import type { Source } from './source.ts';
import { stepValue } from './variable-source.ts';

/** The call, a promise. */
export function stepCall(known: Known, step: Step): Source {
  const { kind, input } = step;
  const write = (value: unknown) => stepValue(known, step, value);
  const call = (name: string, ...values: unknown[]): Source => [`stack.${name}(`, ...values.map(write), ')'];
  const fields = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>;
  if (kind === 'clock') return clockCall(fields, call, write);
  if (kind === 'fault') {
    if (!('clear' in fields)) return call('faults.set', fields);
    return fields.clear === 'all' ? call('faults.clear') : call('faults.clear', fields.clear);
  }
  if (kind === 'verify') return input === 'all' ? call('verify') : call('verify', fields);
  return call(kind === 'check-in' ? 'checkIn' : kind, input);
}

function clockCall(
  fields: Record<string, unknown>,
  call: (name: string, ...values: unknown[]) => Source,
  write: (value: unknown) => Source,
): Source {
  if ('freeze' in fields) {
    if (hasVariable(fields.freeze))
      return ['(', write(fields.freeze), ' ? stack.clock.freeze() : stack.clock.run())'];
    return call(fields.freeze === true ? 'clock.freeze' : 'clock.run');
  }
  const [[name, value] = ['now', undefined]] = Object.entries(fields);
  return call(`clock.${name}`, value);
}
