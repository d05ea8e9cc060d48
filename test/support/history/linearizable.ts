/**
 * Decides whether a history of concurrent operations is linearizable (Herlihy and Wing, 1990): each operation must be
 * able to take effect at one moment between its call and its return, such that all results follow from a sequential
 * model. The search is from Wing and Gong (1993), with Lowe's cache of visited configurations (2017).
 */

/** An operation. The times come from one clock. */
export interface Operation<Input, Output> {
  input: Input;
  /** Undefined without a result. The operation may then take effect at any time after its call, or never. */
  output: Output | undefined;
  called: number;
  returned: number;
}

/** A sequential specification. */
export interface Model<State, Input, Output> {
  initial: State;
  /**
   * Returns the states after an operation with this result, or none if the result is impossible. Without a result, it
   * returns all possible states.
   */
  step(state: State, input: Input, output: Output | undefined): readonly State[];
  /** A text that is equal for equal states. */
  keyOf(state: State): string;
}

/**
 * @returns an order of the operations that the model allows, or undefined. It omits operations that never took
 * effect
 */
export function linearize<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
): Operation<Input, Output>[] | undefined {
  const operations = [...history].sort((a, b) => a.called - b.called);
  const visited = new Set<string>();
  const order: Operation<Input, Output>[] = [];

  const search = (remaining: ReadonlySet<number>, state: State): boolean => {
    // Operations without a result may never have taken effect.
    if ([...remaining].every((i) => operations[i]?.output === undefined)) return true;
    const configuration = `${[...remaining].join()} ${model.keyOf(state)}`;
    if (visited.has(configuration)) return false;
    visited.add(configuration);
    const firstReturn = Math.min(...[...remaining].map((i) => endOf(operations[i])));
    for (const i of remaining) {
      const operation = operations[i];
      // Another operation returned before this one and all later ones were called.
      if (operation === undefined || operation.called > firstReturn) break;
      const rest = new Set(remaining);
      rest.delete(i);
      order.push(operation);
      for (const next of model.step(state, operation.input, operation.output)) if (search(rest, next)) return true;
      order.pop();
    }
    return false;
  };
  return search(new Set(operations.keys()), model.initial) ? order : undefined;
}

function endOf(operation: Operation<unknown, unknown> | undefined): number {
  return operation?.output === undefined ? Infinity : operation.returned;
}
