from vendiscore import compare, read

answers = read("docs/tutorials/data/answers.csv")
compare(answers.samples, by=answers.sets, prompts=answers.prompts, analyzer="char").plot()
