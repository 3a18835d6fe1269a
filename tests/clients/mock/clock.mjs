// The mock's clock: nanoseconds on the machine's monotonic clock.
export const now = () => Number(process.hrtime.bigint());
