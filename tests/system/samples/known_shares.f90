! As known_shares.c: kernels are procedures of a module.
module kernels
  implicit none
  integer, parameter :: dp = kind(1d0)
  real(dp), volatile :: sink = 0
  real(dp) :: spent(4) = 0
contains
  subroutine churn(n)
    integer(8), intent(in) :: n
    integer(8) :: i
    real(dp) :: x
    x = 1
    do i = 1, n
      x = x * 1.0000001_dp + 1e-9_dp
    end do
    sink = sink + x
  end subroutine

  subroutine assemble(n)
    integer(8), intent(in) :: n
    call churn(n)
    sink = sink + 1
  end subroutine

  subroutine precondition(n)
    integer(8), intent(in) :: n
    call churn(n)
    sink = sink + 1
  end subroutine

  subroutine solve(n)
    integer(8), intent(in) :: n
    call churn(n)
    sink = sink + 1
  end subroutine

  subroutine straggle(n)
    integer(8), intent(in) :: n
    call churn(n)
    sink = sink + 1
  end subroutine

  subroutine step(n, late)
    integer(8), intent(in) :: n
    logical, intent(in) :: late
    real(dp) :: t(5)
    call cpu_time(t(1))
    call assemble(n)
    call cpu_time(t(2))
    call precondition(3 * n)
    call cpu_time(t(3))
    call solve(6 * n)
    call cpu_time(t(4))
    if (late) call straggle(10 * n)
    call cpu_time(t(5))
    spent = spent + t(2:5) - t(1:4)
  end subroutine
end module

program known_shares
  use kernels
  use mpi
  implicit none
  integer :: rank, size, error, iterations, i
  integer(8) :: n
  real(dp) :: ms, begin, end
  character(len=32) :: word
  call get_command_argument(1, word)
  read (word, *) iterations
  call get_command_argument(2, word)
  read (word, *) ms
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  call cpu_time(begin)
  call churn(5000000_8)
  call cpu_time(end)
  n = int(ms * 1d-3 / 10 / ((end - begin) / 5d6), 8)
  do i = 1, iterations
    call step(n, rank == size - 1 .and. mod(i, 10) == 0)
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  print '(i0, 4f12.6)', rank, spent
  call MPI_Finalize(error)
end program
