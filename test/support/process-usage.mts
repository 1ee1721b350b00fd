/** CPU time and memory of a process, from Linux. */
import { readFileSync, writeFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second. */
const MS_PER_TICK = 10;

/** CPU time that a process has used so far, all its threads included, in ms. */
export function cpuMs(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
	// The program's name comes first, in parentheses; user and system time are fields 14 and 15.
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

function statusMb(pid: number, field: 'VmRSS' | 'VmHWM'): number {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
}

/** Resident memory of a process, in MB. */
export const memoryMb = (pid: number): number => statusMb(pid, 'VmRSS');

/** Starts to look for the peak of the resident memory anew. */
export const resetPeakMemory = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');

/** Peak of the resident memory since it was reset, in MB. */
export const peakMemoryMb = (pid: number): number => statusMb(pid, 'VmHWM');
