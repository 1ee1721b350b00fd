// What an approver of a list has to look at: doubts about it, and who is missing in it.
const [upload] = itemsOf(() => $('Upload a list'));
const [{ error }] = itemsOf(() => $('Check List'));
const { user, decision } = answer;
const ended = (outcome) => results.filter(hasOutcome(outcome));
const [ready, unknown, notPaid, before] = ['ready', 'unknown', 'notPaid', 'alreadyPaid'].map(ended);
const isPaying = sent.size > 0;
const isSelf = user?.id === upload.user?.id && decision?.startsWith('Approve');
const asks = ready.length > 0 && !isPaying && (!$('Ask').isExecuted || isSelf);
const { period = upload.period, purpose = upload.purpose, notRead = [] } = results[0] ?? {};
const nameOf = (one) =>
	escapeHtml(one ? `${one.firstName} ${one.lastName} (${one.email})` : 'nobody');
const listAgain = uploadLink({ period, purpose: upload.purpose }, 'Upload the list again');
const uploadAgain = `<p>${listAgain}: it pays who was not paid.</p>`;
const ofPeriod = registered.filter((row) => hasOutcome('paid')(row) && row.period === period);
const withRemark = (code) => ready.filter(hasRemark(code));
const isCorrection = /^correction/.test(purpose);
// One person of many is a doubt about that person, and most of them are one about the list.
const isMost = ({ length }) => length > 0 && length * 2 >= ready.length;
const ofThese = ({ length }) => `${length} of ${countPeople(ready)}`;
// A salary that is at least double or half of the last one, or of the table of people before the first one.
const peopleByKey = new Map(itemsOf(() => $('People')).map((row) => [row.person, row]));
const isFarFromBefore = ({ person, amountEtb, lastTime = peopleByKey.get(person) ?? {} }) =>
	amountOf(lastTime) > 0 &&
	(amountEtb >= 2 * amountOf(lastTime) || amountEtb * 2 <= amountOf(lastTime));
const isSettled = ({ reference }) => register.get(reference)?.settledBy;
const onTop = (rows) => {
	const persons = new Set(rows.map(({ person }) => person));
	const others = ofPeriod.filter((row) => row.purpose !== purpose && persons.has(row.person));
	const hint = isCorrection ? ' A correction is only the difference.' : '';
	return `A second payment for ${escapeHtml(period)} to ${ofThese(rows)}? ${sum(rows)} ETB on top of ${sum(others)} ETB for another purpose.${hint}`;
};
const always = () => true;
const never = () => false;
// Doubts about rows that will be paid. With a large one Decline is the first choice.
const doubts = [
	{
		rows: withRemark('otherUnknown'),
		isLarge: always,
		text: (rows) => `UNKNOWN whether ${ofThese(rows)} got another payment, see below`,
	},
	{ rows: withRemark('paidForPeriod'), isLarge: isMost, text: onTop },
	{
		rows: withRemark('paidLately'),
		isLarge: isMost,
		text: (rows) => `Paid in the last 10 days: ${ofThese(rows)}. Are month and purpose right?`,
	},
	{
		rows: likeOthers(ready),
		isLarge: always,
		text: (rows) => `The same person under two numbers? ${numbersOf(rows)}: see below`,
	},
	{
		rows: purpose === 'salary' ? ready.filter(isFarFromBefore) : [],
		isLarge: always,
		text: (rows) =>
			`Very different from before: ${numbersOf(rows)}. Is the amount right? See below`,
	},
	{
		rows: withRemark('changedName'),
		isLarge: never,
		text: (rows) => `Another name than before, see below: ${numbersOf(rows)}`,
	},
	{
		rows: ready.filter(isSettled),
		isLarge: never,
		text: (rows) => `Recorded as not paid before, see below by whom: ${numbersOf(rows)}`,
	},
].filter(({ rows }) => rows.length > 0);
const large = doubts.filter(({ rows, isLarge }) => isLarge(rows));
const largeDoubts = large.map(({ rows, text }) => `<h2><em>${text(rows)}</em></h2>`);
const smallDoubts = doubts
	.filter((doubt) => !large.includes(doubt))
	.map(({ rows, text }) => `<h4>${text(rows)}</h4>`);
// A correction is judged by what was paid before.
const withPaidBefore = (row) => {
	const paidForIt = ofPeriod.filter(({ person }) => person === row.person);
	const text = `Paid for ${period} before: ${sum(paidForIt)} ETB.`;
	return isCorrection ? { ...row, remarks: [...row.remarks, { text }] } : row;
};
const isMarked = (row) => remarksOf(row, 'rounded', 'paidLately', 'sameName').length > 0;
const marked = ready.map(withPaidBefore).filter((row) => isMarked(row) || isSettled(row));
const days = $('Check List').params.payDay - 1;
const due = local(Date.now()).minus({ days }).toFormat('yyyy-LL');
const known = registered.filter((row) => hasOutcome('paid')(row) && row.purpose === purpose);
const earlier = known.filter((row) => row.period < period);
const last = earlier.reduce((newest, row) => (row.period > newest ? row.period : newest), '');
const thisTime = known.filter((row) => row.period === period);
const personsNow = new Set([...results, ...thisTime].map(({ person }) => person));
const missing = earlier.filter((row) => row.period === last && !personsNow.has(row.person));
const ofFile = itemsOf(() => $('People')).filter(({ payroll }) => payroll === 'file');
const setUp = purpose === 'salary' ? ofFile : [];
const notListed = [...setUp, ...missing].filter(({ person }) => person && !personsNow.has(person));
// Without an outcome, because the heading gives no sum of what was paid another time.
const withoutOutcome = notListed.map((row) => [row.person, { ...row, outcome: undefined }]);
const absent = [...new Map(withoutOutcome).values()];
// Who was paid less than the list has. A second correction needs a purpose of its own.
const tooLittle = before.filter((row) =>
	isCorrection ? hasRemark('changedAmount')(row) : unpaidOf(row) > 0.005,
);
const corrected = new Set(
	ofPeriod.filter((row) => row.purpose === 'correction').map(({ person }) => person),
);
const hasCorrection = tooLittle.some(({ person }) => corrected.has(person));
// The rows of the period that another list left.
const ownReferences = new Set(rows.map(({ reference }) => reference));
const leftByOthers = registered.filter(
	(row) => row.period === period && !hasOutcome('paid')(row) && !ownReferences.has(row.reference),
);
