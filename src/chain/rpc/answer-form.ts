/** The form of each answer that the service reads from a node: anything else is refused before a decision rests on it. */

const isQuantity = (value: unknown) => typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value);
const isData = (value: unknown) => typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(value);

type Form = (value: unknown) => boolean;

const has = (fields: Record<string, Form>): Form => {
  const forms = Object.entries(fields);
  return (value) =>
    typeof value === 'object' &&
    value !== null &&
    forms.every(([name, form]) => form((value as Record<string, unknown>)[name]));
};
const orNull =
  (form: Form): Form =>
  (value) =>
    value === null || form(value);
const listOf =
  (form: Form): Form =>
  (value) =>
    Array.isArray(value) && value.every(form);

const isBlock = has({ number: isQuantity, hash: isData, parentHash: isData, timestamp: isQuantity });
const isLog = has({ address: isData, topics: listOf(isData), data: isData, transactionHash: isData });
const isReceipt = has({
  transactionHash: isData,
  blockHash: isData,
  status: isQuantity,
  gasUsed: isQuantity,
  effectiveGasPrice: isQuantity,
  logs: listOf(isLog),
});

const forms: Record<string, Form> = {
  eth_blockNumber: isQuantity,
  eth_chainId: isQuantity,
  eth_estimateGas: isQuantity,
  eth_gasPrice: isQuantity,
  eth_getBalance: isQuantity,
  eth_getTransactionCount: isQuantity,
  eth_maxPriorityFeePerGas: isQuantity,
  eth_call: isData,
  eth_getCode: isData,
  eth_getBlockByNumber: orNull(isBlock),
  eth_getBlockReceipts: orNull(listOf(isReceipt)),
  eth_getTransactionReceipt: orNull(isReceipt),
  eth_getTransactionByHash: orNull(has({ input: isData })),
  eth_getLogs: listOf(isLog),
  eth_simulateV1: Array.isArray,
};

/** Whether an answer has the form that its method promises; null stands for "not known" where the standard says so. */
export const hasForm = (method: string, answer: unknown): boolean => forms[method]?.(answer) ?? true;
