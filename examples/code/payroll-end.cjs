// The rows at the end, each sent to the register or to the list of those who are left. Who was paid before, and less than the
// table of people has by now, is left too.
const paidLess = results.filter((row) => row.paid && unpaidOf(row) > 0.005);
const left = paidLess.map(({ name, listedEtb, paid }) => ({
	name,
	askedEtb: listedEtb,
	outcome: 'paid',
	reason: `${sum([paid])} ETB was paid before the table had more. Pay the difference with Pay salaries from a file, as a correction`,
	isLeft: true,
}));
return [...toPlaces(rows), ...left].map((json) => ({ json }));
