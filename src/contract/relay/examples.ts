/** A purchase of a perk, as the examples of the relay show it. */
import { example } from '../examples.ts';

export const relayExample = {
  token: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
  perks: '0x9fe46736679d2d9a65f0992f2271de9f3c7fa6e0',
  user: '0x8e9e5ae3d52ba6a0d9c0b1d0e4f6e2fd3a1c7b55',
  gasWallet: '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  hash: example.transactionHash as `0x${string}`,
} as const;
