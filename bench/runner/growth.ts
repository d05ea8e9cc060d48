/** A point of a curve: a number of users, with a measured figure. */
export type Point = readonly [size: number, figure: number];

/**
 * Returns the exponent k of the curve figure = c · n^k that fits the points best. It is the slope of the least-squares
 * line through the points' logarithms. Returns undefined for fewer than two sizes.
 */
export function growthExponent(points: readonly Point[]): number | undefined {
  const logs = points.map(([size, figure]) => [Math.log(size), Math.log(figure)] as const);
  const mean = (index: 0 | 1) => logs.reduce((sum, log) => sum + log[index], 0) / logs.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const covariance = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const variance = logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return variance > 0 ? covariance / variance : undefined;
}
